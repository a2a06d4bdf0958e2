// What one page fault of a class takes, from the two measurements a trace may have.
#pragma once
#include <cstdint>
#include <optional>

#include "format/fault_kinds.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

struct FaultPrice {
  std::optional<double> at_start_ns;  // by the recorder, in memory of its own, not recorded
  double capture_ns = 0;              // what recording the fault adds to that
  std::optional<double> in_game_ns;   // of the game's own recorded faults
  std::uint64_t in_game_faults = 0;   // how many those were

  // The game's own know its memory and its machine at that moment; few of them say nothing.
  bool is_of_the_game() const { return in_game_ns && in_game_faults >= kEnough; }
  // None when neither was measured.
  std::optional<double> best_ns(bool recorded) const {
    if (is_of_the_game()) return in_game_ns;
    if (!at_start_ns) return std::nullopt;
    return *at_start_ns + (recorded ? capture_ns : 0.0);
  }

 private:
  static constexpr std::uint64_t kEnough = 32;
};

FaultPrice fault_price(const model::Trace& trace, format::FaultPriceClass price_class);

}  // namespace hitch::analyse
