// The readable log beside a trace: a line for every hitch, and for outliers up to twenty a second.
// Lines wait in memory until the trace has its file. A hitch is known 60 frames later, when the
// frames around it are (format/hitch_rule.h).
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/hitch_rule.h"
#include "recorder/frames/frame_aggregator.h"

namespace spdlog {
class logger;
}

namespace hitch::write {

class HitchLog {
 public:
  struct Config {
    format::HitchRule rule;
    std::uint64_t tsc_hz;
    bool live;  // also to stderr
  };
  HitchLog(const Config& config, frames::FrameAggregator& names);
  ~HitchLog();

  // From here on lines go to the file; those that waited go first. False: it cannot be written.
  bool open(const std::string& path);
  void frame_closed(const frames::ClosedFrame& frame);
  // Told about every present frame in order, as soon as it is known whether it is a hitch.
  using OnJudged = std::function<void(const format::trace::Frame& frame, bool is_hitch)>;
  void set_on_judged(OnJudged on_judged) { on_judged_ = std::move(on_judged); }
  void outlier(const format::trace::Outlier& outlier);
  void note(const std::string& text);
  void finish();

  std::uint64_t hitches() const { return hitches_; }

 private:
  struct Candidate {
    format::trace::Frame record;
    frames::ThreadDigest digest;
    std::string top_site;
    format::HitchVerdict wall;
  };
  void judged(const format::HitchVerdict& work);
  void line(double seconds, const std::string& text);
  void say_skipped();
  double ms(std::uint64_t ticks) const {
    return static_cast<double>(ticks) * 1e3 / static_cast<double>(config_.tsc_hz);
  }

  Config config_;
  frames::FrameAggregator& names_;
  OnJudged on_judged_;
  format::HitchJudge wall_;
  format::HitchJudge work_;
  std::deque<Candidate> candidates_;  // frames without a verdict
  std::size_t walls_judged_ = 0;      // of candidates_
  std::vector<std::string> waiting_;
  std::shared_ptr<spdlog::logger> file_;
  std::shared_ptr<spdlog::logger> terminal_;
  std::uint64_t hitches_ = 0;
  std::uint64_t outlier_second_ = 0;
  std::uint64_t outliers_said_ = 0;
  std::uint64_t outliers_skipped_ = 0;
};

}  // namespace hitch::write
