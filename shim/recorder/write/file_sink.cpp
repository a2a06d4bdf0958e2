#include "recorder/write/file_sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hitch::write {

FileSink::~FileSink() { close(descriptor_); }

bool FileSink::append(const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      error_ = done < 0 ? errno : ENOSPC;
      return false;
    }
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

bool FileSink::truncate(std::uint64_t bytes) {
  const auto end = static_cast<off_t>(bytes);
  return ftruncate(descriptor_, end) == 0 && lseek(descriptor_, end, SEEK_SET) == end;
}

std::string FileSink::trouble() const { return error_ != 0 ? std::strerror(error_) : ""; }

bool FileSink::is_full() const { return error_ == ENOSPC || error_ == EFBIG || error_ == EDQUOT; }

}  // namespace hitch::write
