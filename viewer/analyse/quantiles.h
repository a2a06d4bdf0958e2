// Order statistics by nearest rank: every number a report shows is one that occurred.
#pragma once
#include <vector>

namespace hitch::analyse {

struct Quantiles {
  double p50 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
  double mean = 0;
};

// All zeros of an empty list.
Quantiles quantiles_of(std::vector<double> values);

// Middle value, the mean of the middle two when even. 0 of an empty list.
double median_of(std::vector<double> values);

}  // namespace hitch::analyse
