// What a fault takes here. How much that is, is the machine's business; that it is something, ours.
#include <gtest/gtest.h>

#include <algorithm>

#include "recorder/faults/fault_price.h"

namespace hitch::faults {
namespace {

TEST(FaultPrice, EachClassIsMeasuredOnEnoughFaults) {
  const std::vector<FaultPrice> prices = measure_fault_prices();
  for (const auto wanted :
       {format::FaultPriceClass::kAnonymous, format::FaultPriceClass::kFilePages,
        format::FaultPriceClass::kCopyOnWrite}) {
    const auto price = std::find_if(
        prices.begin(), prices.end(),
        [wanted](const FaultPrice& candidate) { return candidate.price_class == wanted; });
    ASSERT_NE(price, prices.end()) << static_cast<int>(wanted);
    EXPECT_GE(price->faults, 64u);
    EXPECT_GT(price->low_ns, 0);
    EXPECT_LE(price->low_ns, price->median_ns);
    EXPECT_LE(price->median_ns, price->high_ns);
  }
}

}  // namespace
}  // namespace hitch::faults
