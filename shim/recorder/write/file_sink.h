// A trace file. The recorder ignores SIGXFSZ, so that a file-size limit is an error like a full
// disk.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "recorder/write/byte_sink.h"

namespace hitch::write {

class FileSink final : public ByteSink {
 public:
  // Takes over the descriptor of the file at `path`, open for reading and writing.
  FileSink(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  bool append(const void* data, std::size_t bytes) override;
  bool truncate(std::uint64_t bytes) override;
  // Copies them to a new file beside this one, which then takes its name: whoever looks, and
  // whenever the recorder is killed, there is one whole trace.
  bool keep_only(const std::vector<Piece>& pieces) override;
  std::string trouble() const override;
  bool is_full() const override;

 private:
  bool copy(int to, const Piece& piece);

  int descriptor_;
  std::string path_;
  int error_ = 0;
};

}  // namespace hitch::write
