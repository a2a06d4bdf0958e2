#include "recorder/resolve/memory_watch.h"

#include <algorithm>

namespace hitch::resolve {

std::optional<format::trace::MemorySample> MemoryWatch::memory(std::uint64_t ticks,
                                                               const LiveBlocks& live) {
  const std::optional<ResidentMemory> resident = files_.resident_memory();
  if (!resident) return std::nullopt;
  return format::trace::MemorySample{ticks, resident->bytes, resident->private_bytes, live.count(),
                                     live.bytes()};
}

std::optional<format::trace::HeapSample> MemoryWatch::heap(std::uint64_t ticks,
                                                           const LiveBlocks& live) {
  if (live.count() == 0 || live.count() > kMostBlocks) return std::nullopt;
  const std::vector<PrivateMapping> mappings = files_.private_mappings();
  if (mappings.empty()) return std::nullopt;
  blocks_.clear();
  live.for_each([this](std::uint64_t address, const LiveBlock& block) {
    blocks_.emplace_back(address, block.size);
  });
  std::sort(blocks_.begin(), blocks_.end());

  format::trace::HeapSample sample;
  sample.time = ticks;
  sample.live_bytes = live.bytes();
  auto block = blocks_.begin();
  for (const PrivateMapping& mapping : mappings) {
    while (block != blocks_.end() && block->first < mapping.start) ++block;
    const auto first = block;
    std::uint64_t filled_until = 0;
    for (; block != blocks_.end() && block->first < mapping.end; ++block) {
      if (block != first && block->first > filled_until &&
          block->first - filled_until > sample.largest_gap) {
        sample.largest_gap = block->first - filled_until;
        sample.gap_address = filled_until;
      }
      filled_until = std::max(filled_until, std::min(block->first + block->second, mapping.end));
    }
    if (block == first) continue;
    ++sample.mappings;
    sample.mapped += mapping.end - mapping.start;
    sample.spanned += filled_until - first->first;
  }
  return sample;
}

}  // namespace hitch::resolve
