// The process's memory over the recording, from the recorder's samples.
#pragma once
#include <cstdint>
#include <optional>

#include "viewer/model/trace.h"

namespace hitch::analyse {

struct MemoryTrend {
  std::size_t samples = 0;
  std::uint64_t first_resident = 0;
  std::uint64_t last_resident = 0;
  std::uint64_t peak_resident = 0;
  std::uint64_t last_private = 0;
  std::uint64_t last_live_bytes = 0;
  std::uint64_t peak_live_bytes = 0;
  double seconds = 0;  // first sample to last
  // Bytes a minute, least squares over the second half of the samples; 0 when that is under ten
  // seconds.
  double resident_growth = 0;
  double live_growth = 0;
  // Where the live blocks lie, at the last such sample.
  std::optional<format::trace::HeapSample> heap;
  std::uint64_t worst_gap = 0;  // of all samples

  // Which share of the mappings that hold live blocks is live blocks.
  double filled() const {
    return heap && heap->mapped > 0
               ? static_cast<double>(heap->live_bytes) / static_cast<double>(heap->mapped)
               : 0;
  }
};

MemoryTrend memory_trend_of(const model::Trace& trace);

}  // namespace hitch::analyse
