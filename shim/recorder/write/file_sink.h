// A trace file. The recorder ignores SIGXFSZ, so that a file-size limit is an error like a full
// disk.
#pragma once
#include "recorder/write/byte_sink.h"

namespace hitch::write {

class FileSink final : public ByteSink {
 public:
  // Takes over the descriptor of a file that is open for writing.
  explicit FileSink(int descriptor) : descriptor_(descriptor) {}
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  bool append(const void* data, std::size_t bytes) override;
  bool truncate(std::uint64_t bytes) override;
  std::string trouble() const override;
  bool is_full() const override;

 private:
  int descriptor_;
  int error_ = 0;
};

}  // namespace hitch::write
