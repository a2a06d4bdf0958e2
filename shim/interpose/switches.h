// Which hooks do anything: every workaround can be turned off by an option. Set once by the
// session, before the process has a second thread.
#pragma once
#include <cstdint>

namespace hitch::interpose {

struct Switches {
  bool dlsym;
  bool present;
  bool map;
  bool sleep;
};
extern constinit Switches g_switches;

// Code of an allocator beneath us that is not libc's: the mappings it makes are not the game's.
struct CodeRange {
  std::uintptr_t start;
  std::uintptr_t bytes;
};
extern constinit CodeRange g_allocator;

}  // namespace hitch::interpose
