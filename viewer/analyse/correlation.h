// How far two series rise and fall together.
#pragma once
#include <optional>
#include <vector>

namespace hitch::analyse {

struct Correlation {
  double pearson = 0;   // of the values
  double spearman = 0;  // of their ranks: not swayed by a few huge values
};

// None when there are fewer than 3 pairs or one series never changes.
std::optional<Correlation> correlate(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace hitch::analyse
