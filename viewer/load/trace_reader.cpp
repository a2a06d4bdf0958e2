#include "viewer/load/trace_reader.h"

#include <algorithm>
#include <cstring>

namespace hitch::load {
namespace {

constexpr std::uint32_t kMaxHeaderBytes = 64 * 1024;

std::string bytes_text(std::uint64_t bytes) {
  return bytes == 1 ? "1 byte" : std::to_string(bytes) + " bytes";
}

std::string at_byte(std::uint64_t offset) { return "at byte " + std::to_string(offset); }

}  // namespace

Loaded<format::FileHeader> read_header(const ByteSource& source) {
  format::FileHeader header{};
  const std::size_t got = source.read(0, &header, sizeof header);
  if (got == 0) {
    return LoadError{"is empty", std::nullopt, "the recording ended before anything was written"};
  }
  const std::size_t magic_got = std::min(got, sizeof header.magic);
  if (std::memcmp(header.magic, format::kFileMagic, magic_got) != 0) {
    return LoadError{"is not a hitchtrace recording", 0,
                     "recordings begin with HITCHTRC; the file may be something else"};
  }
  if (got < sizeof header) {
    return LoadError{"ends inside its header", got,
                     "the recording was cut before its first frame; nothing can be read"};
  }
  if (header.major != format::kFileMajor) {
    return LoadError{"has format version " + std::to_string(header.major) + "." +
                         std::to_string(header.minor) + ", and this hitchtrace reads version " +
                         std::to_string(format::kFileMajor),
                     8, "open it with the hitchtrace release that recorded it"};
  }
  if (header.header_bytes < sizeof header || header.header_bytes > kMaxHeaderBytes ||
      header.header_bytes > source.size()) {
    return LoadError{"has a damaged header", 12, "its length field makes no sense"};
  }
  return header;
}

Loaded<TraceReader> TraceReader::open(std::shared_ptr<const ByteSource> source) {
  auto header = read_header(*source);
  if (!header) return header.error();
  TraceReader reader(std::move(source), *header);
  if (!reader.take_index()) reader.take_scan();
  return reader;
}

// Every entry is checked against the chunk it names: an index that disagrees with the file in
// anything is not used at all.
bool TraceReader::take_index() {
  format::FileTrailer trailer{};
  const std::uint64_t size = source_->size();
  if (size < header_.header_bytes + sizeof trailer) return false;
  const std::uint64_t trailer_offset = size - sizeof trailer;
  if (source_->read(trailer_offset, &trailer, sizeof trailer) != sizeof trailer) return false;
  if (std::memcmp(trailer.magic, format::kTrailerMagic, sizeof trailer.magic) != 0) return false;
  const auto frame = read_chunk_frame(*source_, trailer.index_offset);
  if (!frame || frame->kind != static_cast<std::uint8_t>(format::ChunkKind::kIndex)) return false;
  const ChunkPlace index{trailer.index_offset, *frame};
  std::string stored;
  std::string raw;
  if (index.end() != trailer_offset || !read_stored(*source_, index, stored) ||
      !unpack(index, std::move(stored), raw) || raw.size() % sizeof(format::IndexEntry) != 0) {
    return false;
  }
  std::vector<ChunkPlace> places;
  std::uint64_t free_from = header_.header_bytes;
  for (std::size_t at = 0; at < raw.size(); at += sizeof(format::IndexEntry)) {
    format::IndexEntry entry{};
    std::memcpy(&entry, raw.data() + at, sizeof entry);
    const auto chunk = read_chunk_frame(*source_, entry.offset);
    if (!chunk || entry.offset < free_from ||
        chunk->kind != static_cast<std::uint8_t>(format::ChunkKind::kRecords)) {
      return false;
    }
    places.push_back({entry.offset, *chunk});
    free_from = places.back().end();
    if (free_from > trailer.index_offset) return false;
  }
  chunks_ = std::move(places);
  indexed_ = true;
  return true;
}

void TraceReader::take_scan() {
  Scan scan = scan_chunks(*source_, header_.header_bytes);
  chunks_ = std::move(scan.records);
  for (const Scan::Hole& hole : scan.holes) {
    warn(bytes_text(hole.bytes) + " " + at_byte(hole.offset) +
         " are damaged; what they held is missing from the numbers");
  }
  if (scan.tail_bytes > 0) {
    warn("the last " + bytes_text(scan.tail_bytes) +
         " are not readable: the recording was cut; `hitchtrace recover FILE` rewrites its index");
  } else {
    warn("the recording has no index: it was cut short; `hitchtrace recover FILE` rewrites it");
  }
}

bool TraceReader::raw_chunk(const ChunkPlace& place, std::string& raw) const {
  std::string stored;
  return read_stored(*source_, place, stored) && unpack(place, std::move(stored), raw);
}

bool TraceReader::read_chunk(const ChunkPlace& place, std::string& raw) {
  std::string stored;
  if (!read_stored(*source_, place, stored)) {
    warn("the chunk " + at_byte(place.offset) +
         " is damaged (its checksum is wrong); what it held is missing from the numbers");
    return false;
  }
  if (!unpack(place, std::move(stored), raw)) {
    warn("the chunk " + at_byte(place.offset) +
         " cannot be unpacked; what it held is missing from the numbers");
    return false;
  }
  return true;
}

void TraceReader::warn(std::string sentence) {
  if (std::find(warnings_.begin(), warnings_.end(), sentence) == warnings_.end()) {
    warnings_.push_back(std::move(sentence));
  }
}

void TraceReader::warn_malformed(const ChunkPlace& place) {
  warn("a record in the chunk " + at_byte(place.offset) +
       " makes no sense; the rest of that chunk is missing from the numbers");
}

}  // namespace hitch::load
