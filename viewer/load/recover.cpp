#include "viewer/load/recover.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "format/crc32c.h"
#include "format/file_layout.h"
#include "viewer/load/chunk_scan.h"
#include "viewer/load/trace_reader.h"

namespace hitch::load {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  bool valid() const { return value_ >= 0; }

 private:
  int value_;
};

bool write_all(int descriptor, std::uint64_t offset, const void* bytes, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got = pwrite(descriptor, static_cast<const char*>(bytes) + done, count - done,
                               static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

LoadError write_error(const std::string& path) {
  return LoadError{path + " cannot be written: " + std::strerror(errno), std::nullopt, ""};
}

// Index chunk and trailer as they stand at `offset`.
std::string index_bytes(const std::vector<ChunkPlace>& places, std::uint64_t offset) {
  std::string entries;
  for (const ChunkPlace& place : places) {
    const format::IndexEntry entry{place.offset, place.frame.first_ticks, place.frame.last_ticks,
                                   place.frame.first_frame, place.frame.last_frame};
    entries.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  }
  format::ChunkFrame frame{};
  frame.magic = format::kChunkMagic;
  frame.kind = static_cast<std::uint8_t>(format::ChunkKind::kIndex);
  frame.codec = static_cast<std::uint8_t>(format::ChunkCodec::kPlain);
  frame.stored_bytes = frame.raw_bytes = static_cast<std::uint32_t>(entries.size());
  frame.first_ticks = frame.first_frame = ~std::uint64_t{0};
  frame.crc32c =
      format::crc32c(&frame, sizeof frame, format::crc32c(entries.data(), entries.size()));
  format::FileTrailer trailer{};
  trailer.index_offset = offset;
  std::memcpy(trailer.magic, format::kTrailerMagic, sizeof trailer.magic);
  std::string bytes(reinterpret_cast<const char*>(&frame), sizeof frame);
  bytes += entries;
  bytes.append(reinterpret_cast<const char*>(&trailer), sizeof trailer);
  return bytes;
}

Loaded<Recovery> recover_in_place(const std::string& path, const Scan& scan, Recovery result) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return write_error(path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return LoadError{"is still being recorded", std::nullopt, "wait until the game has ended"};
  }
  const std::string index = index_bytes(scan.records, scan.end);
  if (ftruncate(file.get(), static_cast<off_t>(scan.end)) != 0 ||
      !write_all(file.get(), scan.end, index.data(), index.size()) || fsync(file.get()) != 0) {
    return write_error(path);
  }
  return result;
}

Loaded<Recovery> recover_to(const std::string& output, const ByteSource& source,
                            std::uint64_t header_bytes, const Scan& scan, Recovery result) {
  const Descriptor file(open(output.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.valid()) return write_error(output);
  std::string bytes(header_bytes, '\0');
  bytes.resize(source.read(0, bytes.data(), bytes.size()));
  std::uint64_t offset = bytes.size();
  bool written = write_all(file.get(), 0, bytes.data(), bytes.size());
  std::vector<ChunkPlace> places = scan.records;
  for (ChunkPlace& place : places) {
    bytes.resize(place.end() - place.offset);
    written = written && source.read(place.offset, bytes.data(), bytes.size()) == bytes.size() &&
              write_all(file.get(), offset, bytes.data(), bytes.size());
    place.offset = offset;
    offset += bytes.size();
  }
  const std::string index = index_bytes(places, offset);
  if (!written || !write_all(file.get(), offset, index.data(), index.size())) {
    const LoadError error = write_error(output);
    unlink(output.c_str());
    return error;
  }
  return result;
}

}  // namespace

Loaded<Recovery> recover(const std::string& path, const std::string& output) {
  auto source = open_file(path);
  if (!source) return source.error();
  auto reader = TraceReader::open(*source);
  if (!reader) return reader.error();
  const std::uint64_t header_bytes = reader->header().header_bytes;
  const Scan scan = scan_chunks(**source, header_bytes);
  Recovery result;
  result.chunks = scan.records.size();
  result.removed_bytes = scan.tail_bytes;
  for (const Scan::Hole& hole : scan.holes) result.skipped_bytes += hole.bytes;
  if (!output.empty()) return recover_to(output, **source, header_bytes, scan, result);
  if (reader->indexed() && reader->chunks().size() == scan.records.size()) {
    result.was_whole = true;
    return result;
  }
  if (static_cast<std::uint64_t>(sizeof(format::IndexEntry)) * scan.records.size() >
      format::kMaxRawChunk) {
    return LoadError{"has too many chunks for one index", std::nullopt,
                     "it stays readable without one"};
  }
  return recover_in_place(path, scan, result);
}

}  // namespace hitch::load
