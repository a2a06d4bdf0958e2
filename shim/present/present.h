// Frame boundaries. Every present hook holds a PresentScope while the real call runs; the outermost
// one of a thread ends the frame when it returns. Hooks know nothing of memory and memory hooks
// nothing of frames.
#pragma once
#include <cstdint>

#include "format/buffer_records.h"
#include "record/thread_state.h"

namespace hitch::present {

class PresentScope {
 public:
  explicit PresentScope(format::Api api);
  ~PresentScope();
  PresentScope(const PresentScope&) = delete;
  PresentScope& operator=(const PresentScope&) = delete;
  // The call that ends the frame, not one nested in it (SDL_RenderPresent calls glXSwapBuffers).
  bool outermost() const { return state_ != nullptr; }

 private:
  record::ThreadState* state_;  // null: nested, or not recorded
  format::Api api_;
  std::uint64_t entry_ticks_ = 0;
  std::uint64_t entry_cpu_ns_ = 0;
};

// hitch_frame_mark: a frame ends here. From then on present calls are no longer boundaries.
void mark_frame();

// A stretch of a frame limiter's sleep on this thread; nested sleep calls count once.
class SleepScope {
 public:
  SleepScope();
  ~SleepScope();
  SleepScope(const SleepScope&) = delete;
  SleepScope& operator=(const SleepScope&) = delete;

 private:
  record::ThreadState* state_;
  std::uint64_t entry_ticks_ = 0;
};

}  // namespace hitch::present
