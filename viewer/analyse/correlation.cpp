#include "viewer/analyse/correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hitch::analyse {
namespace {

std::optional<double> pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

// Equal values share the mean of their ranks.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    const double rank = static_cast<double>(first + last - 1) / 2;
    for (; first < last; ++first) result[order[first]] = rank;
  }
  return result;
}

}  // namespace

std::optional<Correlation> correlate(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 3 || x.size() != y.size()) return std::nullopt;
  const std::optional<double> values = pearson(x, y);
  const std::optional<double> ordered = pearson(ranks(x), ranks(y));
  if (!values || !ordered) return std::nullopt;
  return Correlation{*values, *ordered};
}

}  // namespace hitch::analyse
