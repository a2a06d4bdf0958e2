// A recording of any length as --keep all writes it, without a game: for measuring readers.
//
// Sizes are distributed as supertuxkart asks for them (its twenty most frequent ones, measured);
// lifetimes mix blocks that die at once, within the frame, after some frames, and at the end. Three
// in ten releases come from another thread than the allocation.
#pragma once
#include <cstdint>
#include <string>

namespace hitch::support {

struct SyntheticTrace {
  std::uint64_t events = 1'000'000;
  std::uint64_t stacks = 5'000;  // callstacks that allocate, each its own call site; and as many
                                 // callers that release
  std::uint64_t threads = 8;
  std::uint64_t live = 200'000;  // blocks at a time, about
  std::uint64_t events_a_frame = 10'000;
  std::uint64_t seed = 1;
};

struct SyntheticTruth {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t foreign_frees = 0;  // from another thread
  std::uint64_t bytes = 0;
  std::uint64_t live = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t frames = 0;
};

// Writes the trace to `path`. Throws std::runtime_error when that is not possible.
SyntheticTruth write_synthetic_trace(const std::string& path, const SyntheticTrace& wanted);

}  // namespace hitch::support
