#include "recorder/write/trace_writer.h"

#include <cstring>
#include <utility>

#include "format/crc32c.h"

namespace hitch::write {

using format::ChunkCodec;
using format::ChunkFrame;
using format::ChunkKind;

namespace {

constexpr int kZstdLevel = 3;

template <class Struct>
std::string bytes_of(const Struct& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

TraceWriter::TraceWriter(std::unique_ptr<ByteSink> sink, std::uint64_t tsc_hz,
                         std::uint64_t realtime_ns)
    : sink_(std::move(sink)), zstd_(ZSTD_createCCtx()) {
  format::FileHeader header{};
  std::memcpy(header.magic, format::kFileMagic, sizeof(header.magic));
  header.major = format::kFileMajor;
  header.minor = format::kFileMinor;
  header.header_bytes = sizeof(header);
  header.tsc_hz = tsc_hz;
  header.created_realtime_ns = realtime_ns;
  append_whole(bytes_of(header));
}

bool TraceWriter::append_whole(const std::string& bytes) {
  if (sink_->append(bytes.data(), bytes.size())) {
    written_ += bytes.size();
    return true;
  }
  sink_->truncate(written_);
  failed_ = true;
  return false;
}

void TraceWriter::restart() {
  encoder_.start(base_ticks_);
  first_frame_ = ~std::uint64_t{0};
  last_frame_ = 0;
}

void TraceWriter::tick(std::uint64_t now_ms, std::uint64_t ticks) {
  if (now_ms < flushed_ms_ + kChunkMs) return;
  flushed_ms_ = now_ms;
  base_ticks_ = ticks;
  flush();
}

void TraceWriter::flush() {
  if (failed_ || encoder_.empty()) return;
  ChunkFrame frame{};
  frame.first_ticks = encoder_.first_ticks();
  frame.last_ticks = encoder_.last_ticks();
  frame.first_frame = first_frame_;
  frame.last_frame = last_frame_;
  const std::uint64_t offset = written_;
  if (put_chunk(ChunkKind::kRecords, encoder_.bytes().data(), encoder_.bytes().size(), frame)) {
    index_.push_back({offset, frame.first_ticks, frame.last_ticks, first_frame_, last_frame_});
  }
  restart();
}

bool TraceWriter::put_chunk(ChunkKind kind, const char* payload, std::size_t bytes,
                            ChunkFrame frame) {
  compressed_.resize(ZSTD_compressBound(bytes));
  const std::size_t packed = zstd_
                                 ? ZSTD_compressCCtx(zstd_.get(), compressed_.data(),
                                                     compressed_.size(), payload, bytes, kZstdLevel)
                                 : bytes;
  const bool smaller = zstd_ && ZSTD_isError(packed) == 0 && packed < bytes;
  const char* stored = smaller ? compressed_.data() : payload;
  const std::size_t stored_bytes = smaller ? packed : bytes;
  frame.magic = format::kChunkMagic;
  frame.kind = static_cast<std::uint8_t>(kind);
  frame.codec = static_cast<std::uint8_t>(smaller ? ChunkCodec::kZstd : ChunkCodec::kPlain);
  frame.stored_bytes = static_cast<std::uint32_t>(stored_bytes);
  frame.raw_bytes = static_cast<std::uint32_t>(bytes);
  frame.crc32c = 0;
  frame.crc32c = format::crc32c(&frame, sizeof(frame), format::crc32c(stored, stored_bytes));
  std::string whole = bytes_of(frame);
  whole.append(stored, stored_bytes);
  return append_whole(whole);
}

void TraceWriter::redirect(std::unique_ptr<ByteSink> sink, const std::string& so_far) {
  sink_ = std::move(sink);
  written_ = 0;
  failed_ = false;
  // Piece by piece, so that a sink that fills up keeps whole chunks.
  for (std::size_t piece = 0; piece <= index_.size(); ++piece) {
    const std::uint64_t end = piece < index_.size() ? index_[piece].offset : so_far.size();
    if (!append_whole(so_far.substr(written_, end - written_))) {
      index_.resize(piece > 0 ? piece - 1 : 0);
      return;
    }
  }
}

bool TraceWriter::put_index() {
  const std::uint64_t offset = written_;
  ChunkFrame frame{};
  frame.first_ticks = ~std::uint64_t{0};
  frame.first_frame = ~std::uint64_t{0};
  if (!put_chunk(ChunkKind::kIndex, reinterpret_cast<const char*>(index_.data()),
                 index_.size() * sizeof(format::IndexEntry), frame)) {
    return false;
  }
  format::FileTrailer trailer{};
  trailer.index_offset = offset;
  std::memcpy(trailer.magic, format::kTrailerMagic, sizeof(trailer.magic));
  if (append_whole(bytes_of(trailer))) return true;
  // An index without its trailer is of no use to anyone.
  written_ = offset;
  sink_->truncate(written_);
  return false;
}

void TraceWriter::finish(const format::trace::End& end) {
  if (written_ < sizeof(format::FileHeader)) return;
  if (failed_) {
    failed_ = false;
    restart();
  }
  take(end);
  flush();
  if (!failed_) put_index();
}

}  // namespace hitch::write
