#include "viewer/analyse/fault_price.h"

namespace hitch::analyse {

FaultPrice fault_price(const model::Trace& trace, format::FaultPriceClass price_class) {
  const auto number = static_cast<std::uint64_t>(price_class);
  const auto ns = [](std::uint64_t picoseconds) { return static_cast<double>(picoseconds) / 1e3; };
  FaultPrice price;
  double outside_ns = 0;
  if (const auto found = trace.fault_prices.find({number, 0}); found != trace.fault_prices.end()) {
    price.at_start_ns = ns(found->second.picoseconds);
    price.capture_ns = ns(found->second.capture_picoseconds);
    outside_ns = ns(found->second.outside_picoseconds);
  }
  if (const auto found = trace.fault_prices.find({number, 1}); found != trace.fault_prices.end()) {
    price.in_game_ns = ns(found->second.picoseconds) + outside_ns;
    price.in_game_faults = found->second.faults;
  }
  return price;
}

}  // namespace hitch::analyse
