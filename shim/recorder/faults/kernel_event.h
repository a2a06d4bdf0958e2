// What the kernel tells about the game's threads: page faults, switches, samples of running code.
#pragma once
#include <cstdint>

namespace hitch::faults {

enum class KernelEventKind : std::uint8_t {
  kFault,      // a page fault begins
  kMajor,      // the page fault at `address` read a file or swap; told at its end
  kFaultEnd,   // end of one fault in kFaultEndEvery, of one thread: what the fault took
  kSwitchOut,  // the thread leaves its processor
  kSwitchIn,   // and has one again
  kSample,     // the thread has computed for another millisecond
  kThreadEnd,  // the thread is gone; its id may come back as another one's
  kFork,       // the process has forked: its pages are shared until they are written
};

struct KernelEvent {
  std::uint64_t key;      // ticks since tsc_base
  std::uint64_t address;  // faults: what was touched
  std::uint64_t ip;       // faults and samples: the instruction
  std::uint32_t tid;      // the recorder's view
  KernelEventKind kind;
  std::uint8_t processor;  // where, modulo 256; of kSwitchOut and kSwitchIn
  bool preempted;          // kSwitchOut: the thread would have run on
  bool in_kernel;          // faults: taken inside a system call
};
static_assert(sizeof(KernelEvent) == 32);

}  // namespace hitch::faults
