#include "unwind/code_map.h"

#include <atomic>

#include "unwind/walker.h"

namespace hitch::unwind {
namespace {

// struct dl_find_object of glibc's <dlfcn.h> on x86-64; declared here because the library must
// build and load where the C library is older.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  void* link_map;
  void* eh_frame;  // what PT_GNU_EH_FRAME points to
  unsigned long long reserved[7];
};
using FindObject = int (*)(void*, FoundObject*);
constinit FindObject g_find_object = nullptr;

// Noted modules. A place is taken by storing its start last, and given back by storing 0 there.
struct Noted {
  std::atomic<std::uintptr_t> start;
  std::atomic<std::uintptr_t> end;
  std::atomic<std::uintptr_t> eh_frame_hdr;
};
constexpr unsigned kMostNoted = 2048;
constinit Noted g_noted[kMostNoted] = {};
constinit std::atomic<unsigned> g_noted_count = 0;

}  // namespace

void use_find_object(void* function) { g_find_object = reinterpret_cast<FindObject>(function); }

void note_module(std::uintptr_t start, std::uintptr_t end, std::uintptr_t eh_frame_hdr) {
  if (g_find_object != nullptr) return;
  const unsigned count = g_noted_count.load(std::memory_order_relaxed);
  unsigned place = 0;
  while (place < count && g_noted[place].start.load(std::memory_order_relaxed) != 0) ++place;
  if (place == kMostNoted) return;
  g_noted[place].end.store(end, std::memory_order_relaxed);
  g_noted[place].eh_frame_hdr.store(eh_frame_hdr, std::memory_order_relaxed);
  g_noted[place].start.store(start, std::memory_order_release);
  if (place == count) g_noted_count.store(count + 1, std::memory_order_release);
}

void forget_module(std::uintptr_t start) {
  const unsigned count = g_noted_count.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < count; ++i) {
    if (g_noted[i].start.load(std::memory_order_relaxed) == start)
      g_noted[i].start.store(0, std::memory_order_release);
  }
}

bool find_module(std::uintptr_t pc, ModuleImage& module) {
  if (g_find_object != nullptr) {
    FoundObject found{};
    if (g_find_object(reinterpret_cast<void*>(pc), &found) != 0) return false;
    module = {reinterpret_cast<std::uintptr_t>(found.map_start),
              reinterpret_cast<std::uintptr_t>(found.map_end),
              reinterpret_cast<std::uintptr_t>(found.eh_frame)};
    return true;
  }
  const unsigned count = g_noted_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) {
    const Noted& noted = g_noted[i];
    const std::uintptr_t start = noted.start.load(std::memory_order_acquire);
    const std::uintptr_t end = noted.end.load(std::memory_order_relaxed);
    if (start == 0 || pc < start || pc >= end) continue;
    module = {start, end, noted.eh_frame_hdr.load(std::memory_order_relaxed)};
    return true;
  }
  return false;
}

}  // namespace hitch::unwind
