// Records -> chunks -> bytes (format/file_layout.h).
//
//   put() ... put() | chunks of ~256 KiB, or what a quarter of a second brought | put() ...
//
// A chunk is written whole or cut off again, so that the file is valid at any moment. When the sink
// refuses, writing stops for good; finish() still tries to add the end of the story.
//
// Events have chunks of their own, which readers of sums skip. With a limit to the file's size so
// have the rows of frames: when the file is full, the oldest events are taken out, and when that is
// not enough the oldest rows, down to half the limit; a GivenUp record says so. Names, frames and
// totals always stay.
#pragma once
#include <zstd.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "format/file_layout.h"
#include "recorder/resolve/record_out.h"
#include "recorder/write/byte_sink.h"

namespace hitch::write {

class TraceWriter final : public resolve::RecordOutTo<TraceWriter> {
 public:
  // `most_bytes`: of the file; 0: no limit.
  TraceWriter(std::unique_ptr<ByteSink> sink, std::uint64_t tsc_hz, std::uint64_t realtime_ns,
              std::uint64_t most_bytes = 0);

  template <class Record>
  void take(const Record& record) {
    if (failed_) return;
    constexpr Moment kMoment = moment_of<Record>();
    if (paused_ && kMoment != Moment::kLasting) return;
    Pen& pen = pens_[pen_of(kMoment)];
    if constexpr (std::is_same_v<Record, format::trace::Frame>) {
      pen.note_frame(record.id);
    } else if constexpr (std::is_same_v<Record, format::trace::Events>) {
      pen.events += record.count + record.skipped;
    } else if constexpr (requires { record.frame; }) {
      pen.note_frame(record.frame);
    }
    pen.encoder.append(record);
    if (pen.encoder.bytes().size() >= kChunkBytes) flush();
  }

  // While paused, what belongs to a moment is dropped; names and totals are still written.
  void set_paused(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }

  // Writes what has gathered when the last chunk is a quarter of a second old.
  void tick(std::uint64_t now_ms, std::uint64_t ticks);
  void flush();
  // Moves everything to another sink: the trace gets its file.
  void redirect(std::unique_ptr<ByteSink> sink, const std::string& so_far);
  // Last record, index and trailer. With a sink that refused before, only these are tried.
  void finish(const format::trace::End& end);

  bool failed() const { return failed_; }
  // Why writing stopped, in a few words.
  std::string trouble() const { return full_ ? "its largest size is reached" : sink_->trouble(); }
  const ByteSink& sink() const { return *sink_; }
  std::uint64_t bytes_written() const { return written_; }

 private:
  static constexpr std::size_t kChunkBytes = 256 * 1024;
  static constexpr std::uint64_t kChunkMs = 250;

  // What a record belongs to.
  enum class Moment { kLasting, kFrame, kRow, kEvents };

  template <class Record>
  static constexpr Moment moment_of() {
    using namespace format::trace;
    if (std::is_same_v<Record, Events>) return Moment::kEvents;
    if (std::is_same_v<Record, Frame> || std::is_same_v<Record, Message>) return Moment::kFrame;
    if (std::is_same_v<Record, FrameThread> || std::is_same_v<Record, FrameSite> ||
        std::is_same_v<Record, FrameTag> || std::is_same_v<Record, FrameHeap> ||
        std::is_same_v<Record, FrameFault> || std::is_same_v<Record, CodeSample> ||
        std::is_same_v<Record, Outlier> || std::is_same_v<Record, LargeBlock>) {
      return Moment::kRow;
    }
    return Moment::kLasting;
  }
  std::size_t pen_of(Moment moment) const {
    if (moment == Moment::kEvents) return 2;
    return moment == Moment::kRow && most_bytes_ != 0 ? 1 : 0;
  }

  // A chunk in the making. In this order they are written: names first.
  struct Pen {
    format::ChunkContent content;
    format::RecordEncoder encoder;
    std::uint64_t first_frame = ~std::uint64_t{0};
    std::uint64_t last_frame = 0;
    std::uint64_t events = 0;

    void note_frame(std::uint64_t frame) {
      if (frame < first_frame) first_frame = frame;
      if (frame > last_frame) last_frame = frame;
    }
  };
  struct WrittenChunk {
    format::IndexEntry place;
    std::uint64_t bytes;
    std::uint64_t events;
    format::ChunkContent content;
    bool given_up;
  };

  void restart(Pen& pen);
  bool put_chunk(format::ChunkKind kind, const char* payload, std::size_t bytes,
                 format::ChunkFrame frame);
  bool append_whole(const std::string& bytes);
  bool put_index();
  void make_room();

  struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  std::unique_ptr<ByteSink> sink_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> zstd_;
  std::array<Pen, 3> pens_{Pen{format::ChunkContent::kMixed, {}},
                           Pen{format::ChunkContent::kRows, {}},
                           Pen{format::ChunkContent::kEvents, {}}};
  std::deque<WrittenChunk> chunks_;
  std::string compressed_;
  std::uint64_t most_bytes_;
  std::uint64_t written_ = 0;
  std::uint64_t base_ticks_ = 0;
  std::uint64_t flushed_ms_ = 0;
  bool paused_ = false;
  bool full_ = false;
  bool failed_ = false;
};

}  // namespace hitch::write
