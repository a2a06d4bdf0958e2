#include "viewer/load/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hitch::load {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int descriptor, std::uint64_t size) : descriptor_(descriptor), size_(size) {}
  ~FileSource() override { close(descriptor_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::uint64_t size() const override { return size_; }
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const override {
    std::size_t done = 0;
    while (done < bytes && offset + done < size_) {
      const std::size_t want =
          static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, size_ - offset - done));
      const ssize_t got = pread(descriptor_, static_cast<char*>(to) + done, want,
                                static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int descriptor_;
  std::uint64_t size_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const override {
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min(bytes, bytes_.size() - static_cast<std::size_t>(offset));
    std::memcpy(to, bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string bytes_;
};

LoadError system_error(const char* what, int error) {
  return LoadError{std::string(what) + ": " + std::strerror(error), std::nullopt, ""};
}

}  // namespace

Loaded<std::shared_ptr<const ByteSource>> open_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_error("cannot be opened", errno);
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) {
    const int error = errno;
    close(descriptor);
    return system_error("cannot be examined", error);
  }
  if (!S_ISREG(facts.st_mode)) {
    close(descriptor);
    return LoadError{S_ISDIR(facts.st_mode) ? "is a folder" : "is not a regular file", std::nullopt,
                     "name a file that ends in .hitch"};
  }
  return std::shared_ptr<const ByteSource>(
      std::make_shared<FileSource>(descriptor, static_cast<std::uint64_t>(facts.st_size)));
}

std::shared_ptr<const ByteSource> from_memory(std::string bytes) {
  return std::make_shared<MemorySource>(std::move(bytes));
}

}  // namespace hitch::load
