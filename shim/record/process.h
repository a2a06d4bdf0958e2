// What the threads of a recorded process share: where the memory is. Written once by the session,
// wiped in a forked child.
#pragma once
#include <cstdint>

#include "format/free_stack.h"
#include "format/shared_memory.h"
#include "record/thread_state.h"

namespace hitch::record {

struct Process {
  format::SharedHeader* header;  // null: not recorded (not started, dormant, or a forked child)
  char* base;
  format::PoolGeometry geometry;
  ThreadState* states;       // one for each slot
  unwind::StackMemo* memos;  // the same
  std::uint32_t pid;
  unsigned stack_depth;  // entries kept of a callstack; 0: none are taken
};

// Wiped page; null until the session has set it up.
extern constinit Process* g_process;

enum class Start : std::uint32_t { kNotTried, kRunning, kRecording, kOff };
// Progress of this process' start. Not wiped by fork: kRecording with a wiped g_process means
// "child".
extern constinit std::uint32_t g_start;

// Implemented by session/ (the composition root): decides whether this process is recorded and, if
// so, sets g_process. Called by the first thread that allocates, possibly inside the loader, and
// again in a forked child that should be recorded. Returns true when recording.
bool start_process(bool fork_child);

// True when forked children say hello anew (option `children`).
extern constinit bool g_follow_children;

}  // namespace hitch::record
