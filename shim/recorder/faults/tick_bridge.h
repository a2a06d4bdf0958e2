// Converts the kernel's time stamps to ticks of the shim's clock. Both clocks drift against each
// other by parts in a million, so that the line is drawn again whenever a new pair is read.
#pragma once
#include <cstdint>

namespace hitch::faults {

class TickBridge {
 public:
  // `hz` is a first estimate of the ticks in a second, good for the first tenth of a second.
  TickBridge(double hz, std::uint64_t base_ticks) : ticks_per_ns_(hz / 1e9), base_(base_ticks) {}

  // One reading of both clocks at the same moment.
  void anchor(std::uint64_t ticks, std::uint64_t ns) {
    if (first_ns_ == 0) {
      first_ticks_ = ticks;
      first_ns_ = ns;
    } else if (ns > first_ns_ + kLongEnoughNs) {
      ticks_per_ns_ =
          static_cast<double>(ticks - first_ticks_) / static_cast<double>(ns - first_ns_);
    }
    last_ticks_ = ticks;
    last_ns_ = ns;
  }

  // Ticks since the base; 0 for what lies before it.
  std::uint64_t key(std::uint64_t ns) const {
    const double away = (static_cast<double>(ns) - static_cast<double>(last_ns_)) * ticks_per_ns_;
    const auto ticks =
        static_cast<std::int64_t>(last_ticks_ - base_) + static_cast<std::int64_t>(away);
    return ticks > 0 ? static_cast<std::uint64_t>(ticks) : 0;
  }

 private:
  static constexpr std::uint64_t kLongEnoughNs = 100'000'000;
  double ticks_per_ns_;
  std::uint64_t base_;
  std::uint64_t first_ticks_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t last_ns_ = 0;
};

}  // namespace hitch::faults
