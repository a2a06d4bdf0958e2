// The recursion guard, as a value: functions that write records take a const HookScope&, so that
// calling them without holding the guard does not compile.
#pragma once
#include "base/compiler.h"
#include "record/thread_state.h"

namespace hitch::record {

class HookScope {
 public:
  // Precondition: state.guard == kIdle (enter() said so). `slot` is the return slot of the exported
  // function.
  HITCH_FAST explicit HookScope(ThreadState& state, std::uintptr_t slot = base::return_slot())
      : state_(state) {
    // A hook of a signal handler may run between any two of these: it must find guard_return either
    // right or 0.
    state.guard = slot;
    base::signal_fence();
    state.guard_return = *reinterpret_cast<const std::uintptr_t*>(slot);
    base::signal_fence();
  }
  HITCH_FAST ~HookScope() {
    base::signal_fence();
    state_.guard_return = 0;
    base::signal_fence();
    state_.guard = kIdle;
  }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;
  HITCH_FAST ThreadState& state() const { return state_; }

 private:
  ThreadState& state_;
};

// Marks a stretch in which allocations are the shim's own and not to be counted as the game's.
class OwnWork {
 public:
  explicit OwnWork(const HookScope& scope) : state_(scope.state()) { ++state_.own; }
  ~OwnWork() { --state_.own; }
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;

 private:
  ThreadState& state_;
};

}  // namespace hitch::record
