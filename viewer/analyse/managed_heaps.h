// Run-times in the game that keep a heap of their own, recognised by the names of their modules.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "viewer/model/trace.h"

namespace hitch::analyse {

// How much of a run-time's heap calls of the malloc family show.
enum class HeapSource : std::uint8_t {
  kOwn,        // nothing: pages from the kernel, collected by itself
  kOwnSmall,   // large objects alone
  kAllocator,  // all of it, as long as the game gives it no allocator of its own
};
const char* heap_source_key(HeapSource source);  // "own", "own_small", "allocator" as in JSON

struct ManagedHeap {
  std::string runtime;  // "Mono"
  std::string module;   // file name of the first module that tells
  HeapSource source = HeapSource::kOwn;
};

// Each run-time once, in order of their modules. One that is linked into the game's executable is
// not seen.
std::vector<ManagedHeap> managed_heaps_of(const model::Trace& trace);

}  // namespace hitch::analyse
