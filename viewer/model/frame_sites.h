// The rows of call sites in chosen frames, read from the file in a second walk.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/load/trace_reader.h"
#include "viewer/model/trace.h"

namespace hitch::model {

// What one call site did in one frame, all threads together.
struct FrameSite {
  FrameId frame;
  SiteId site;
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ticks = 0;
  std::uint64_t presenting_ticks = 0;  // the part of the presenting thread
  std::uint64_t slowest_ticks = 0;

  std::uint64_t calls() const { return allocs + frees + reallocs; }
};

class FrameSites {
 public:
  FrameSites() = default;
  // Rows by frame, then site; each pair once.
  explicit FrameSites(std::vector<FrameSite> rows) : rows_(std::move(rows)) {}
  std::span<const FrameSite> of(FrameId frame) const;

 private:
  std::vector<FrameSite> rows_;
};

// `wanted` holds one flag for each frame of the trace. Chunks without a wanted frame are not read.
FrameSites load_frame_sites(load::TraceReader& reader, const Trace& trace,
                            const std::vector<bool>& wanted);

}  // namespace hitch::model
