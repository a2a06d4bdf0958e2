#include "recorder/write/trace_writer.h"

#include <algorithm>
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
                         std::uint64_t realtime_ns, std::uint64_t most_bytes)
    : sink_(std::move(sink)), zstd_(ZSTD_createCCtx()), most_bytes_(most_bytes) {
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

void TraceWriter::restart(Pen& pen) {
  pen.encoder.start(base_ticks_);
  pen.first_frame = ~std::uint64_t{0};
  pen.last_frame = 0;
  pen.events = 0;
}

void TraceWriter::tick(std::uint64_t now_ms, std::uint64_t ticks) {
  if (now_ms < flushed_ms_ + kChunkMs) return;
  flushed_ms_ = now_ms;
  base_ticks_ = ticks;
  flush();
}

void TraceWriter::flush() {
  for (Pen& pen : pens_) {
    if (failed_) return;
    if (pen.encoder.empty()) continue;
    ChunkFrame frame{};
    frame.content = static_cast<std::uint16_t>(pen.content);
    frame.first_ticks = pen.encoder.first_ticks();
    frame.last_ticks = pen.encoder.last_ticks();
    frame.first_frame = pen.first_frame;
    frame.last_frame = pen.last_frame;
    const std::uint64_t offset = written_;
    if (put_chunk(ChunkKind::kRecords, pen.encoder.bytes().data(), pen.encoder.bytes().size(),
                  frame)) {
      chunks_.push_back(
          {{offset, frame.first_ticks, frame.last_ticks, pen.first_frame, pen.last_frame},
           written_ - offset,
           pen.events,
           pen.content,
           false});
    }
    restart(pen);
  }
  if (most_bytes_ != 0 && written_ > most_bytes_ && !failed_) make_room();
}

// In place and piece by piece: a recorder that runs for hours must not grow with the number of its
// chunks more than by their entries in the index.
void TraceWriter::make_room() {
  format::trace::GivenUp given_up;
  std::uint64_t left = written_;
  const auto give_up_oldest = [&](format::ChunkContent content) {
    for (WrittenChunk& chunk : chunks_) {
      if (left <= most_bytes_ / 2) return;
      if (chunk.content != content) continue;
      chunk.given_up = true;
      left -= chunk.bytes;
      given_up.bytes += chunk.bytes;
      given_up.events += chunk.events;
      if (chunk.place.first_ticks <= chunk.place.last_ticks)
        given_up.until = std::max(given_up.until, chunk.place.last_ticks);
      if (content == format::ChunkContent::kRows &&
          chunk.place.first_frame <= chunk.place.last_frame)
        given_up.frames = std::max(given_up.frames, chunk.place.last_frame + 1);
    }
  };
  // Sums are a small part of what events take, and without them a frame's hitch has no cause.
  give_up_oldest(format::ChunkContent::kEvents);
  give_up_oldest(format::ChunkContent::kRows);
  std::vector<ByteSink::Piece> pieces{{0, sizeof(format::FileHeader)}};
  for (const WrittenChunk& chunk : chunks_) {
    if (chunk.given_up) continue;
    if (pieces.back().offset + pieces.back().bytes == chunk.place.offset) {
      pieces.back().bytes += chunk.bytes;
    } else {
      pieces.push_back({chunk.place.offset, chunk.bytes});
    }
  }
  // Making room again and again for less and less would be all that the recorder does.
  full_ = left > most_bytes_ / 4 * 3;
  if (full_ || !sink_->keep_only(pieces)) {
    failed_ = true;
    return;
  }
  std::erase_if(chunks_, [](const WrittenChunk& chunk) { return chunk.given_up; });
  written_ = sizeof(format::FileHeader);
  for (WrittenChunk& chunk : chunks_) {
    chunk.place.offset = written_;
    written_ += chunk.bytes;
  }
  take(given_up);
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
  for (std::size_t piece = 0; piece <= chunks_.size(); ++piece) {
    const std::uint64_t end = piece < chunks_.size() ? chunks_[piece].place.offset : so_far.size();
    if (!append_whole(so_far.substr(written_, end - written_))) {
      chunks_.resize(piece > 0 ? piece - 1 : 0);
      return;
    }
  }
}

bool TraceWriter::put_index() {
  const std::uint64_t offset = written_;
  std::vector<format::IndexEntry> index;
  index.reserve(chunks_.size());
  for (const WrittenChunk& chunk : chunks_) index.push_back(chunk.place);
  ChunkFrame frame{};
  frame.first_ticks = ~std::uint64_t{0};
  frame.first_frame = ~std::uint64_t{0};
  if (!put_chunk(ChunkKind::kIndex, reinterpret_cast<const char*>(index.data()),
                 index.size() * sizeof(format::IndexEntry), frame)) {
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
    for (Pen& pen : pens_) restart(pen);
  }
  most_bytes_ = 0;
  take(end);
  flush();
  if (!failed_) put_index();
}

}  // namespace hitch::write
