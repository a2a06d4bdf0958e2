// The game's memory as /proc shows it, beside the blocks that are live: how much the process holds,
// and how much of that is holes between blocks. Costs the game nothing but the kernel's short hold
// of its mapping lock.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "format/trace_records.h"
#include "recorder/resolve/live_blocks.h"
#include "recorder/resolve/process_files.h"

namespace hitch::resolve {

class MemoryWatch {
 public:
  explicit MemoryWatch(const ProcessFiles& files) : files_(files) {}

  // None when the process is gone.
  std::optional<format::trace::MemorySample> memory(std::uint64_t ticks, const LiveBlocks& live);
  // None also above a million blocks: sorting them would hold up the recorder.
  std::optional<format::trace::HeapSample> heap(std::uint64_t ticks, const LiveBlocks& live);

 private:
  static constexpr std::uint64_t kMostBlocks = 1'000'000;

  const ProcessFiles& files_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> blocks_;  // address, size
};

}  // namespace hitch::resolve
