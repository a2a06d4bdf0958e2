#include "viewer/load/chunk_scan.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "format/crc32c.h"

namespace hitch::load {
namespace {

using format::ChunkFrame;

// The largest thing a writer stores for kMaxRawChunk bytes.
const std::uint64_t kMaxStored = ZSTD_compressBound(format::kMaxRawChunk);
// Chunk-like bytes with a wrong CRC cost up to kMaxStored each to refute; a file that was only cut
// or overwritten has few of them, one made to waste time has many.
constexpr unsigned kMaxFalseStarts = 256;

// First place at or after `from` where a chunk's magic stands, or the source's size.
std::uint64_t find_magic(const ByteSource& source, std::uint64_t from) {
  char magic[sizeof(format::kChunkMagic)];
  std::memcpy(magic, &format::kChunkMagic, sizeof magic);
  std::string window(64 * 1024, '\0');
  while (from < source.size()) {
    const std::size_t got = source.read(from, window.data(), window.size());
    const std::size_t at = std::string_view(window.data(), got).find({magic, sizeof magic});
    if (at != std::string_view::npos) return from + at;
    if (got < window.size()) break;
    from += got - (sizeof magic - 1);
  }
  return source.size();
}

}  // namespace

std::optional<ChunkFrame> read_chunk_frame(const ByteSource& source, std::uint64_t offset) {
  ChunkFrame frame{};
  if (offset > source.size() || source.size() - offset < sizeof frame) return std::nullopt;
  if (source.read(offset, &frame, sizeof frame) != sizeof frame) return std::nullopt;
  const bool plausible = frame.magic == format::kChunkMagic && frame.stored_bytes <= kMaxStored &&
                         frame.raw_bytes <= format::kMaxRawChunk &&
                         source.size() - offset - sizeof frame >= frame.stored_bytes;
  if (!plausible) return std::nullopt;
  return frame;
}

bool read_stored(const ByteSource& source, const ChunkPlace& place, std::string& stored) {
  stored.resize(place.frame.stored_bytes);
  if (source.read(place.offset + sizeof(ChunkFrame), stored.data(), stored.size()) !=
      stored.size()) {
    return false;
  }
  ChunkFrame unsigned_frame = place.frame;
  unsigned_frame.crc32c = 0;
  const std::uint32_t crc = format::crc32c(&unsigned_frame, sizeof unsigned_frame,
                                           format::crc32c(stored.data(), stored.size()));
  return crc == place.frame.crc32c;
}

bool unpack(const ChunkPlace& place, std::string&& stored, std::string& raw) {
  switch (static_cast<format::ChunkCodec>(place.frame.codec)) {
    case format::ChunkCodec::kPlain:
      raw = std::move(stored);
      return raw.size() == place.frame.raw_bytes;
    case format::ChunkCodec::kZstd: {
      raw.resize(place.frame.raw_bytes);
      const std::size_t got = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
      return ZSTD_isError(got) == 0 && got == raw.size();
    }
  }
  return false;
}

Scan scan_chunks(const ByteSource& source, std::uint64_t begin) {
  Scan scan;
  scan.end = begin;
  std::uint64_t readable_until = begin;  // past the last readable chunk of any kind
  unsigned false_starts = 0;
  std::string stored;
  std::uint64_t at = begin;
  while (at < source.size()) {
    const auto frame = read_chunk_frame(source, at);
    if (frame && read_stored(source, {at, *frame}, stored)) {
      const ChunkPlace place{at, *frame};
      if (at > readable_until) scan.holes.push_back({readable_until, at - readable_until});
      if (frame->kind == static_cast<std::uint8_t>(format::ChunkKind::kRecords)) {
        scan.records.push_back(place);
        scan.end = place.end();
      }
      at = readable_until = place.end();
      continue;
    }
    if (frame && ++false_starts > kMaxFalseStarts) break;
    at = find_magic(source, at + 1);
  }
  std::uint64_t tail = source.size() - readable_until;
  format::FileTrailer trailer{};
  if (readable_until > scan.end && tail == sizeof trailer &&
      source.read(readable_until, &trailer, sizeof trailer) == sizeof trailer &&
      std::memcmp(trailer.magic, format::kTrailerMagic, sizeof trailer.magic) == 0) {
    tail = 0;
  }
  scan.tail_bytes = tail;
  return scan;
}

}  // namespace hitch::load
