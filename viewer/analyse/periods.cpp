#include "viewer/analyse/periods.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {
namespace {

constexpr std::size_t kLeastMembers = 4;
constexpr double kLeastShare = 0.5;  // of the moments that could have a successor
constexpr double kLeastPeriod = 3;   // in resolutions
// How far an interval may lie from the period; each is tried.
constexpr std::array<double, 5> kTolerances = {0.01, 0.02, 0.04, 0.08, 0.14};
// An interval spans at most so many gaps between neighbours: strangers lie in between.
constexpr std::size_t kGapsSpanned = 3;
// A window that random moments fall into more often than this proves nothing.
constexpr double kMostMet = 0.5;
constexpr double kBinRatio = 1.02;
constexpr std::size_t kBinsTried = 48;
// Nominal: lengths are fitted to the data and moments share successors, so that series of many
// moments need a margin. What it comes to is measured in periods_test.cpp.
constexpr double kMostChance = 0.01;
constexpr double kMostChanceOfMany = 0.05;  // by the number of moments
// Every second moment of a period is one, too: the shorter is told when nearly as many follow it.
constexpr double kNearlyAsMany = 0.8;

// Chance of `least` or more successes in `trials`.
double binomial_tail(std::size_t trials, std::size_t least, double chance) {
  if (least == 0 || chance >= 1) return 1;
  if (chance <= 0) return 0;
  double sum = 0;
  const auto n = static_cast<double>(trials);
  for (std::size_t k = least; k <= trials; ++k) {
    const auto hits = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(hits + 1) - std::lgamma(n - hits + 1) +
                    hits * std::log(chance) + (n - hits) * std::log1p(-chance));
  }
  return std::min(sum, 1.0);
}

// How much of a series a window around `length` covers. Moments that were rounded to `resolution`
// lie in it when their cell does.
double window(double length, double half_width, double resolution) {
  const double cells = std::floor((length + half_width) / resolution) -
                       std::ceil((length - half_width) / resolution) + 1;
  return std::max(2 * half_width, cells * resolution);
}

struct Fit {
  double length = 0;
  std::size_t trials = 0;         // moments early enough to have a successor
  std::vector<double> intervals;  // to each successor found
  std::vector<std::pair<std::size_t, std::size_t>> pairs;  // a moment and its successor
  double chance = 1;                                       // that random moments fit as well

  double share() const {
    return trials == 0 ? 0 : static_cast<double>(pairs.size()) / static_cast<double>(trials);
  }
};

Fit fit_to(const std::vector<double>& moments, double length, double half_width) {
  Fit fit;
  fit.length = length;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const double due = moments[i] + length;
    if (due - half_width > moments.back()) break;
    ++fit.trials;
    const auto first = std::lower_bound(moments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                        moments.end(), due - half_width);
    auto nearest = first;
    for (auto at = first; at != moments.end() && *at <= due + half_width; ++at) {
      if (std::abs(*at - due) < std::abs(*nearest - due)) nearest = at;
    }
    if (nearest == moments.end() || *nearest > due + half_width) continue;
    fit.pairs.emplace_back(i, static_cast<std::size_t>(nearest - moments.begin()));
    fit.intervals.push_back(*nearest - moments[i]);
  }
  return fit;
}

// Lengths that recur among the intervals, most frequent first, and how many different ones there
// are.
std::pair<std::vector<double>, std::size_t> candidates(const std::vector<double>& moments,
                                                       double least) {
  std::map<long, std::vector<double>> bins;
  for (std::size_t span = 1; span <= kGapsSpanned; ++span) {
    for (std::size_t i = 0; i + span < moments.size(); ++i) {
      const double interval = moments[i + span] - moments[i];
      if (interval < least) continue;
      bins[std::lround(std::log(interval) / std::log(kBinRatio))].push_back(interval);
    }
  }
  std::vector<std::vector<double>> frequent;
  frequent.reserve(bins.size());
  for (auto& [bin, intervals] : bins) frequent.push_back(std::move(intervals));
  std::stable_sort(frequent.begin(), frequent.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  const std::size_t different = frequent.size();
  frequent.resize(std::min(different, kBinsTried));
  std::vector<double> lengths;
  lengths.reserve(frequent.size());
  for (auto& intervals : frequent) lengths.push_back(median_of(std::move(intervals)));
  return {std::move(lengths), different};
}

const Fit& best_of(const std::vector<Fit>& fits) {
  const auto likelier = [](const Fit& a, const Fit& b) { return a.chance < b.chance; };
  const double share = std::min_element(fits.begin(), fits.end(), likelier)->share();
  const Fit* best = nullptr;
  for (const Fit& fit : fits) {
    if (fit.share() < kNearlyAsMany * share) continue;
    const bool alike =
        best != nullptr && std::abs(fit.length / best->length - 1) < kTolerances.back();
    if (best == nullptr || (alike ? likelier(fit, *best) : fit.length < best->length)) best = &fit;
  }
  return *best;
}

}  // namespace

Period period_of(std::vector<double> intervals) {
  Period period;
  std::erase_if(intervals, [](double interval) { return !(interval > 0); });
  if (intervals.empty()) return period;
  period.length = median_of(intervals);
  for (double& interval : intervals) interval = std::abs(interval / period.length - 1);
  std::sort(intervals.begin(), intervals.end());
  period.spread = intervals[(intervals.size() * 9 + 9) / 10 - 1];
  return period;
}

std::optional<Period> find_period(const std::vector<double>& moments, double resolution) {
  // Times come from the file, which may be damaged.
  if (resolution <= 0 || !std::is_sorted(moments.begin(), moments.end())) return std::nullopt;
  std::vector<std::size_t> positions;
  std::vector<double> distinct;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (i > 0 && moments[i] - moments[i - 1] < kLeastPeriod * resolution) continue;
    positions.push_back(i);
    distinct.push_back(moments[i]);
  }
  if (distinct.size() < kLeastMembers) return std::nullopt;
  const double span = distinct.back() - distinct.front();
  std::vector<double> gaps;
  gaps.reserve(distinct.size() - 1);
  for (std::size_t i = 1; i < distinct.size(); ++i) gaps.push_back(distinct[i] - distinct[i - 1]);
  // Bursts are denser than the whole: the rate within them is what makes chance meetings. No two
  // moments are nearer than the least period, which makes all others likelier.
  const double apart = (kLeastPeriod - 1) * resolution;
  const double mean = span / static_cast<double>(gaps.size());
  const double rate =
      std::max(1 / (mean - apart), std::numbers::ln2 / (median_of(std::move(gaps)) - apart));
  const double most_chance =
      std::min(kMostChance, kMostChanceOfMany / static_cast<double>(distinct.size()));
  const auto [lengths, different] = candidates(distinct, kLeastPeriod * resolution);
  std::vector<Fit> fits;
  for (const double candidate : lengths) {
    for (const double tolerance : kTolerances) {
      const auto half_width = [&](double length) {
        return std::max(tolerance * length, resolution / 2);
      };
      const auto met_by_chance = [&](double length) {
        return 1 - std::exp(-rate * window(length, half_width(length), resolution));
      };
      if (met_by_chance(candidate) > kMostMet) continue;
      Fit fit = fit_to(distinct, candidate, half_width(candidate));
      for (int round = 0; round < 2 && !fit.intervals.empty(); ++round) {
        const double length = median_of(fit.intervals);
        fit = fit_to(distinct, length, half_width(length));
      }
      const std::size_t hits = fit.intervals.size();
      if (hits + 1 < kLeastMembers || fit.share() < kLeastShare ||
          fit.length * (kLeastMembers - 1) > span * (1 + tolerance)) {
        continue;
      }
      // The length came from one of the intervals, so one of the successes proves nothing.
      fit.chance = binomial_tail(fit.trials - 1, hits - 1, met_by_chance(fit.length)) *
                   static_cast<double>(different);
      if (fit.chance < most_chance) fits.push_back(std::move(fit));
    }
  }
  if (fits.empty()) return std::nullopt;
  Fit best = best_of(fits);
  Period period = period_of(std::move(best.intervals));
  for (const auto& [from, to] : best.pairs)
    period.pairs.emplace_back(positions[from], positions[to]);
  return period;
}

}  // namespace hitch::analyse
