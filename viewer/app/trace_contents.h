// Whether a recording that was just made has anything in it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace hitch::app {

struct TraceContents {
  std::uint64_t calls = 0;      // of the allocator
  std::uint64_t map_calls = 0;  // mmap and the like
  bool has_frames = false;      // ended by a present
  std::string executable;
};

// Nothing when the trace cannot be read.
std::optional<TraceContents> read_contents(const std::string& trace);

}  // namespace hitch::app
