// xorshift64*: the same numbers from the same seed on every machine (S. Vigna).
#pragma once
#include <cstddef>
#include <cstdint>

namespace combat {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x1234567) { next(); }

  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }
  // 0 <= result < bound; bound > 0.
  std::size_t below(std::size_t bound) { return (next() >> 33) % bound; }
  // 0 <= result < 1.
  float unit() { return static_cast<float>(next() >> 40) / static_cast<float>(1 << 24); }
  float between(float low, float high) { return low + (high - low) * unit(); }

 private:
  std::uint64_t state_;
};

}  // namespace combat
