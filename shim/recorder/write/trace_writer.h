// Records -> chunks -> bytes (format/file_layout.h).
//
//   put() ... put() | chunk of ~256 KiB, or what a quarter of a second brought | put() ...
//
// A chunk is written whole or cut off again, so that the file is valid at any moment. When the sink
// refuses, writing stops for good; finish() still tries to add the end of the story.
#pragma once
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/file_layout.h"
#include "recorder/resolve/record_out.h"
#include "recorder/write/byte_sink.h"

namespace hitch::write {

class TraceWriter final : public resolve::RecordOutTo<TraceWriter> {
 public:
  TraceWriter(std::unique_ptr<ByteSink> sink, std::uint64_t tsc_hz, std::uint64_t realtime_ns);

  template <class Record>
  void take(const Record& record) {
    if (failed_) return;
    if constexpr (std::is_same_v<Record, format::trace::Frame>) {
      note_frame(record.id);
    } else if constexpr (requires { record.frame; }) {
      note_frame(record.frame);
    }
    encoder_.append(record);
    if (encoder_.bytes().size() >= kChunkBytes) flush();
  }

  // Writes what has gathered when the last chunk is a quarter of a second old.
  void tick(std::uint64_t now_ms, std::uint64_t ticks);
  void flush();
  // Moves everything to another sink: the trace gets its file.
  void redirect(std::unique_ptr<ByteSink> sink, const std::string& so_far);
  // Last record, index and trailer. With a sink that refused before, only these are tried.
  void finish(const format::trace::End& end);

  bool failed() const { return failed_; }
  const ByteSink& sink() const { return *sink_; }
  std::uint64_t bytes_written() const { return written_; }

 private:
  static constexpr std::size_t kChunkBytes = 256 * 1024;
  static constexpr std::uint64_t kChunkMs = 250;

  void note_frame(std::uint64_t frame) {
    if (frame < first_frame_) first_frame_ = frame;
    if (frame > last_frame_) last_frame_ = frame;
  }
  void restart();
  bool put_chunk(format::ChunkKind kind, const char* payload, std::size_t bytes,
                 format::ChunkFrame frame);
  bool append_whole(const std::string& bytes);
  bool put_index();

  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd_;
  format::RecordEncoder encoder_;
  std::vector<format::IndexEntry> index_;
  std::string compressed_;
  std::uint64_t written_ = 0;
  std::uint64_t base_ticks_ = 0;
  std::uint64_t first_frame_ = ~std::uint64_t{0};
  std::uint64_t last_frame_ = 0;
  std::uint64_t flushed_ms_ = 0;
  bool failed_ = false;
};

}  // namespace hitch::write
