// Which frames are hitches: the one rule that the recorder's live log and every report share.
//
// A frame is a hitch when its duration exceeds the median of the 120 frames around it by more than
// max(least_ms, mad_factor x the median absolute deviation of those frames). The window is centred
// (60 before, the frame itself, 59 after) and slides to the side at both ends of the run; a shorter
// run is one window. The rule is applied to wall time and to work separately.
//
//   9.2 ms with one frame of 13.4 -> that one; 16.6 with one of 18.6 -> that one; noise of +-1 ms
//   -> none
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace hitch::format {

struct HitchRule {
  double least_ms = 1.5;  // option hitch_ms
  double mad_factor = 6;  // option hitch_mad
};

struct HitchVerdict {
  bool is_hitch = false;
  double median = 0;
  double mad = 0;
  double excess = 0;  // duration - median; may be negative
};

constexpr std::size_t kHitchWindow = 120;

// Median of a sorted, non-empty range: the mean of the middle two when even.
inline double sorted_median(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

// Median absolute deviation from `median` of a sorted, non-empty range, without sorting the
// deviations: the nearest values lie next to the median on both sides, so they are merged outwards.
inline double sorted_mad(const std::vector<double>& sorted, double median) {
  const std::size_t count = sorted.size();
  auto right = static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), median) -
                                        sorted.begin());
  std::size_t left = right;
  double previous = 0;
  double current = 0;
  for (std::size_t taken = 0; taken <= count / 2; ++taken) {
    previous = current;
    if (left > 0 && (right == count || median - sorted[left - 1] < sorted[right] - median)) {
      current = median - sorted[--left];
    } else {
      current = sorted[right++] - median;
    }
  }
  return count % 2 != 0 ? current : (previous + current) / 2;
}

// Judges frames as they come. `emit(std::size_t index, double ms, const HitchVerdict&)` is called
// once for each frame in order, as soon as its window is complete: 60 frames later, or at finish().
class HitchJudge {
 public:
  explicit HitchJudge(HitchRule rule = {}) : rule_(rule) {}

  template <class Emit>
  void push(double ms, Emit&& emit) {
    if (window_.size() == kHitchWindow) {
      sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), window_[oldest()]));
      window_[oldest()] = ms;
    } else {
      window_.push_back(ms);
    }
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), ms), ms);
    ++pushed_;
    if (pushed_ >= kHitchWindow) judge_until(pushed_ - kHitchWindow / 2 + 1, emit);
  }

  template <class Emit>
  void finish(Emit&& emit) {
    judge_until(pushed_, emit);
  }

 private:
  std::size_t oldest() const { return pushed_ % kHitchWindow; }

  template <class Emit>
  void judge_until(std::size_t end, Emit&& emit) {
    if (judged_ >= end) return;
    HitchVerdict verdict;
    verdict.median = sorted_median(sorted_);
    verdict.mad = sorted_mad(sorted_, verdict.median);
    const double limit = std::max(rule_.least_ms, rule_.mad_factor * verdict.mad);
    for (; judged_ < end; ++judged_) {
      const double ms = window_[judged_ % kHitchWindow];
      verdict.excess = ms - verdict.median;
      verdict.is_hitch = verdict.excess > limit;
      emit(judged_, ms, verdict);
    }
  }

  HitchRule rule_;
  std::vector<double> window_;  // a ring once full: frame i at i % kHitchWindow
  std::vector<double> sorted_;  // the same values
  std::size_t pushed_ = 0;
  std::size_t judged_ = 0;
};

// The whole run at once: one verdict for each duration in milliseconds.
inline std::vector<HitchVerdict> judge_frames(const std::vector<double>& durations_ms,
                                              HitchRule rule = {}) {
  std::vector<HitchVerdict> verdicts;
  verdicts.reserve(durations_ms.size());
  HitchJudge judge(rule);
  const auto emit = [&](std::size_t, double, const HitchVerdict& v) { verdicts.push_back(v); };
  for (const double ms : durations_ms) judge.push(ms, emit);
  judge.finish(emit);
  return verdicts;
}

}  // namespace hitch::format
