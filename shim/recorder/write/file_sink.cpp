#include "recorder/write/file_sink.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
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

bool FileSink::copy(int to, const Piece& piece) {
  std::array<char, 64 * 1024> block;
  auto at = static_cast<off_t>(piece.offset);
  for (std::uint64_t left = piece.bytes; left > 0;) {
    const ssize_t got =
        pread(descriptor_, block.data(), std::min<std::uint64_t>(left, block.size()), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      error_ = got < 0 ? errno : EIO;
      return false;
    }
    for (ssize_t put = 0; put < got;) {
      const ssize_t done = ::write(to, block.data() + put, static_cast<std::size_t>(got - put));
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) {
        error_ = done < 0 ? errno : ENOSPC;
        return false;
      }
      put += done;
    }
    at += got;
    left -= static_cast<std::uint64_t>(got);
  }
  return true;
}

bool FileSink::keep_only(const std::vector<Piece>& pieces) {
  const std::string fresh_path = path_ + ".new." + std::to_string(getpid());
  const int fresh = open(fresh_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fresh < 0) {
    error_ = errno;
    return false;
  }
  flock(fresh, LOCK_EX | LOCK_NB);  // as create_trace() does
  bool whole = true;
  for (std::size_t i = 0; i < pieces.size() && whole; ++i) whole = copy(fresh, pieces[i]);
  if (whole && rename(fresh_path.c_str(), path_.c_str()) != 0) {
    error_ = errno;
    whole = false;
  }
  if (!whole) {
    unlink(fresh_path.c_str());
    close(fresh);
    return false;
  }
  close(descriptor_);
  descriptor_ = fresh;
  return true;
}

std::string FileSink::trouble() const { return error_ != 0 ? std::strerror(error_) : ""; }

bool FileSink::is_full() const { return error_ == ENOSPC || error_ == EFBIG || error_ == EDQUOT; }

}  // namespace hitch::write
