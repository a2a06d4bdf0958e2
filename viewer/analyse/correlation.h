// How far two series rise and fall together, and whether the peaks of one meet marks on the other.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace hitch::analyse {

struct Correlation {
  double pearson = 0;   // of the values
  double spearman = 0;  // of their ranks: not swayed by a few huge values
};

// None when there are fewer than 3 pairs or one series never changes.
std::optional<Correlation> correlate(const std::vector<double>& x, const std::vector<double>& y);

// Marked places among those with the highest values.
struct Meetings {
  std::size_t marked = 0;
  std::size_t top = 0;     // places with the highest values: as many as are marked, or fewer
  std::size_t met = 0;     // marked ones among them
  double expected = 0;     // by chance: marked x top / all
  double probability = 1;  // that chance alone makes so many or more
};

// Values that share the last place are all in `top` or all left out, so that it holds no more
// places than are marked.
Meetings meetings_of(const std::vector<double>& values, const std::vector<bool>& marked);

}  // namespace hitch::analyse
