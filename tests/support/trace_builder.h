// Builds synthetic traces byte by byte, independently of the recorder's writer, so that reader and
// writer cannot agree on the same mistake.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "format/fault_kinds.h"
#include "format/file_layout.h"
#include "format/trace_records.h"

namespace hitch::support {

// What one call site did in one frame.
struct SiteWork {
  std::uint64_t site = 0;
  std::uint64_t allocs = 0;
  std::uint64_t bytes = 0;
  double ms = 0;
  std::uint64_t thread = 0;
  std::uint64_t frees = 0;
};

// What a thread other than the presenting one did in one frame.
struct ThreadWork {
  std::uint64_t thread = 1;
  std::uint64_t allocs = 0;
  double alloc_ms = 0;
};

// One frame in milliseconds. The work is wall - present - sleep; what of it `waiting_ms` does not
// take is CPU time.
struct FrameSpec {
  double wall_ms = 10;
  double present_ms = 0.5;
  double present_cpu_ms = 0.1;
  double sleep_ms = 0;
  double waiting_ms = 0;
  std::uint64_t allocs = 100;
  std::uint64_t bytes = 6400;
  double alloc_ms = 0.1;  // presenting thread inside allocation calls
  std::uint64_t minor_faults = 2;
  std::uint64_t major_faults = 0;
  std::uint64_t other_minor_faults = 0;  // of the other threads
  std::uint64_t voluntary = 1;
  std::uint64_t involuntary = 0;
  std::uint64_t kind = 0;
  std::uint64_t flags = 0;
  std::uint64_t message = 0;
  double own_ms = 0.01;
  std::vector<ThreadWork> others = {};
  std::vector<SiteWork> sites = {};
};

class TraceBuilder {
 public:
  // One tick is one nanosecond unless another rate is given.
  explicit TraceBuilder(std::uint64_t ticks_per_second = 1'000'000'000);

  template <class Record>
  TraceBuilder& add(const Record& record) {
    encoder_.append(record);
    return *this;
  }
  TraceBuilder& meta(const std::string& key, const std::string& value);
  // Meta, calibration, one module, a main thread (0), workers (1..) and call sites (0..) as a usual
  // recording has them.
  TraceBuilder& preamble(unsigned workers = 2, unsigned sites = 3);
  TraceBuilder& frame(const FrameSpec& spec);
  TraceBuilder& frames(std::size_t count, const FrameSpec& spec);
  // Closing calibration, counters and End.
  TraceBuilder& finish();

  TraceBuilder& compress(bool on) {
    compress_ = on;
    return *this;
  }
  // Ends the current chunk. Rows of `frames` [first, last] are named in its frame.
  TraceBuilder& end_chunk();
  // Appends bytes as a chunk's payload, whatever they are.
  TraceBuilder& raw_chunk(const std::string& payload);
  // Appends bytes that are no chunk.
  TraceBuilder& garbage(const std::string& bytes);

  // The file. Without an index it looks as after the recorder was killed.
  std::string bytes(bool with_index = true);

  std::uint64_t next_frame() const { return next_frame_; }
  std::uint64_t now() const { return now_; }
  std::uint64_t ticks(double ms) const;

 private:
  void append_chunk(const std::string& payload, std::uint64_t first, std::uint64_t last);

  std::uint64_t hz_;
  bool compress_ = true;
  std::string file_;
  std::string index_;
  format::RecordEncoder encoder_;
  std::uint64_t chunk_first_frame_ = 0;
  std::uint64_t next_frame_ = 0;
  std::uint64_t now_ = 0;
};

// Page faults of one thread in one frame.
format::trace::FrameFault fault_row(std::uint64_t frame, std::uint64_t thread,
                                    format::FaultOwner owner, std::uint64_t id,
                                    std::uint64_t faults,
                                    format::FaultKind kind = format::FaultKind::kFirstTouch);

// Writes `bytes` to a new file under the test's temporary folder and returns its path.
std::string write_temporary(const std::string& name, const std::string& bytes);

}  // namespace hitch::support
