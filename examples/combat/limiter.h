// Holds 60 frames a second, as games do that do not trust vsync.
#pragma once
#include <chrono>
#include <thread>

namespace combat {

class Limiter {
 public:
  using Clock = std::chrono::steady_clock;

  // Sleeps until the next sixtieth of a second. A frame that came too late moves the beat.
  void wait() {
    next_ += std::chrono::nanoseconds(1'000'000'000 / 60);
    const Clock::time_point now = Clock::now();
    if (next_ < now)
      next_ = now;
    else
      std::this_thread::sleep_until(next_);
  }

 private:
  Clock::time_point next_ = Clock::now();
};

}  // namespace combat
