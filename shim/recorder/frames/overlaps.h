// Contention that no switch shows: allocation calls that began before another thread's had ended,
// against calls of the same site and size class that overlap none. Of two calls that overlap the
// later to end is the one that waited, and it is the one that is noticed: records come in the order
// of their ends.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hitch::frames {

class Overlaps {
 public:
  // The thread has ended a call at `end`; ends never fall.
  void ended(std::uint32_t thread, std::uint64_t end) {
    if (thread != last_thread_) {
      other_end_ = last_end_;
      last_thread_ = thread;
      several_ = several_ || other_end_ != 0;
    }
    last_end_ = end;
  }
  // More than one thread has made calls.
  bool several() const { return several_; }
  // Whether a call of `thread` that began at `begin`, and is the next to end, met another one's.
  bool meets(std::uint32_t thread, std::uint64_t begin) const {
    return (thread != last_thread_ ? last_end_ : other_end_) > begin;
  }

  // A call that overlapped none.
  void learn(std::uint32_t site, std::size_t size_class, std::uint64_t ticks) {
    if (site >= usual_.size()) usual_.resize(site + std::size_t{1} + usual_.size() / 2);
    Usual& usual = usual_[site];
    if (usual.size_class != size_class) usual = {0, 0, static_cast<std::uint16_t>(size_class)};
    // One slow call must not make all others look quick.
    auto value = static_cast<float>(ticks);
    if (usual.calls >= kEnough) value = std::min(value, 8 * usual.mean + 64);
    if (usual.calls < kMemory) ++usual.calls;
    usual.mean += (value - usual.mean) / static_cast<float>(usual.calls);
  }
  // What such a call takes when it overlaps none; 0: not known.
  std::uint64_t usual(std::uint32_t site, std::size_t size_class) const {
    if (site >= usual_.size()) return 0;
    const Usual& usual = usual_[site];
    if (usual.size_class != size_class || usual.calls < kEnough) return 0;
    return static_cast<std::uint64_t>(std::lround(usual.mean));
  }

 private:
  static constexpr std::uint16_t kEnough = 8;
  static constexpr std::uint16_t kMemory = 1024;
  struct Usual {
    float mean = 0;
    std::uint16_t calls = 0;
    std::uint16_t size_class = 0xffff;
  };

  std::vector<Usual> usual_;
  std::uint32_t last_thread_ = ~std::uint32_t{0};
  std::uint64_t last_end_ = 0;
  std::uint64_t other_end_ = 0;  // latest of any other thread
  bool several_ = false;
};

}  // namespace hitch::frames
