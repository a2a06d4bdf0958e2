#include "viewer/analyse/quantiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hitch::analyse {

Quantiles quantiles_of(std::vector<double> values) {
  Quantiles result;
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    // Guards against 0.95 * 100 being a hair above 95.
    const double rank = std::ceil(share * static_cast<double>(values.size()) - 1e-9);
    return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
  };
  result.p50 = at(0.5);
  result.p95 = at(0.95);
  result.p99 = at(0.99);
  result.p999 = at(0.999);
  result.max = values.back();
  result.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return result;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 != 0) return *half;
  return (*std::max_element(values.begin(), half) + *half) / 2;
}

}  // namespace hitch::analyse
