// Whether moments come at a regular interval, and at which.
#pragma once
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace hitch::analyse {

struct Period {
  double length = 0;  // median of the intervals that make it
  double spread = 0;  // nine in ten of them deviate by at most this share of it
  // Positions of the moments each interval lies between.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

// Of `moments` that ascend; others have none. `resolution` is their least meaningful difference;
// moments less than three of it apart are one, the first of them. Some may be missing, some may be
// strangers, and intervals may jitter by a seventh. At least four moments make a period, half of
// all follow it, and moments that come at random have one in fewer than one series in a hundred.
std::optional<Period> find_period(const std::vector<double>& moments, double resolution);

// Length and spread of given intervals; those that are not positive are left out.
Period period_of(std::vector<double> intervals);

}  // namespace hitch::analyse
