// Where a trace's bytes go.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hitch::write {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Appends all of it. False: not all could be written; what was is to be cut off with truncate().
  virtual bool append(const void* data, std::size_t bytes) = 0;
  virtual bool truncate(std::uint64_t bytes) = 0;
  struct Piece {
    std::uint64_t offset;
    std::uint64_t bytes;
  };
  // Afterwards these pieces are all there is, in this order. False: everything is as it was.
  virtual bool keep_only(const std::vector<Piece>& pieces) = 0;
  // Why the last append failed, in a few words.
  virtual std::string trouble() const { return {}; }
  virtual bool is_full() const { return false; }  // no space, as opposed to any other error
};

class MemorySink final : public ByteSink {
 public:
  bool append(const void* data, std::size_t bytes) override {
    bytes_.append(static_cast<const char*>(data), bytes);
    return true;
  }
  bool truncate(std::uint64_t bytes) override {
    bytes_.resize(bytes);
    return true;
  }
  bool keep_only(const std::vector<Piece>& pieces) override {
    std::string kept;
    for (const Piece& piece : pieces) kept.append(bytes_, piece.offset, piece.bytes);
    bytes_ = std::move(kept);
    return true;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class NullSink final : public ByteSink {
 public:
  bool append(const void*, std::size_t) override { return true; }
  bool truncate(std::uint64_t) override { return true; }
  bool keep_only(const std::vector<Piece>&) override { return true; }
};

}  // namespace hitch::write
