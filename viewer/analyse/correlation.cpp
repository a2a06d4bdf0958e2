#include "viewer/analyse/correlation.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

// Chance that `draws` of `all` without putting back hold `least` or more of the `special` ones.
double drawn_at_least(std::size_t all, std::size_t special, std::size_t draws, std::size_t least) {
  const auto log_choose = [](std::size_t of, std::size_t take) {
    const auto n = static_cast<double>(of);
    const auto k = static_cast<double>(take);
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  };
  if (least == 0) return 1;
  double sum = 0;
  for (std::size_t hits = least; hits <= std::min(special, draws); ++hits) {
    if (draws - hits > all - special) continue;
    sum += std::exp(log_choose(special, hits) + log_choose(all - special, draws - hits) -
                    log_choose(all, draws));
  }
  return std::min(sum, 1.0);
}

}  // namespace

std::optional<Correlation> correlate(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 3 || x.size() != y.size()) return std::nullopt;
  const std::optional<double> values = pearson(x, y);
  const std::optional<double> ordered = pearson(ranks(x), ranks(y));
  if (!values || !ordered) return std::nullopt;
  return Correlation{*values, *ordered};
}

Meetings meetings_of(const std::vector<double>& values, const std::vector<bool>& marked) {
  Meetings result;
  result.marked = static_cast<std::size_t>(std::count(marked.begin(), marked.end(), true));
  if (result.marked == 0) return result;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double last = sorted[result.marked - 1];
  const auto end = std::upper_bound(sorted.begin(), sorted.end(), last, std::greater<>());
  const bool all_fit = static_cast<std::size_t>(end - sorted.begin()) <= result.marked;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < last || (values[i] == last && !all_fit)) continue;
    ++result.top;
    if (marked[i]) ++result.met;
  }
  result.expected = static_cast<double>(result.marked) * static_cast<double>(result.top) /
                    static_cast<double>(values.size());
  result.probability = drawn_at_least(values.size(), result.top, result.marked, result.met);
  return result;
}

}  // namespace hitch::analyse
