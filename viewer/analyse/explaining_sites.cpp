#include "viewer/analyse/explaining_sites.h"

#include <algorithm>
#include <utility>

#include "viewer/analyse/quantiles.h"
#include "viewer/model/frame_sites.h"

namespace hitch::analyse {
namespace {

constexpr double kExplains = 1.0 / 3;
constexpr double kPageBytes = 4096;
// Rows of 120 frames around each of them are in memory at once.
constexpr std::size_t kHitchesAtOnce = 16;

// How what a site did is weighed against the excess of one hitch.
class Scale {
 public:
  Scale(const Hitch& hitch, const model::Trace& trace, const Measures& measures)
      : whole_(hitch.excess_ns),
        ns_per_tick_(trace.clock.ns_per_tick()),
        others_(hitch.verdict == Verdict::kWaitingOnMemory) {
    const model::Frame& frame = trace.frames[hitch.frame.index()];
    const double faults = others_
                              ? static_cast<double>(hitch.others.faults) - hitch.usual_others_faults
                              : static_cast<double>(frame.minor_faults) - hitch.usual_faults;
    if (faults <= 0) return;
    pages_ = faults;
    faults_ns_ = others_ ? faults * measures.fault_price_ns
                         : std::max(0.0, hitch.excess[part_index(Part::kFaults)]);
  }

  double ns(const model::FrameSite& row) const {
    return static_cast<double>(others_ ? row.ticks : row.presenting_ticks) * ns_per_tick_;
  }
  // Of the excess, by time and bytes beyond the usual.
  double share(double ns, double bytes) const {
    if (whole_ <= 0) return 0;
    double explained = std::max(ns, 0.0);
    if (pages_ > 0) explained += std::clamp(bytes / (pages_ * kPageBytes), 0.0, 1.0) * faults_ns_;
    return std::min(explained / whole_, 1.0);
  }

 private:
  double whole_;
  double ns_per_tick_;
  bool others_;
  double pages_ = 0;
  double faults_ns_ = 0;
};

struct Suspect {
  const Hitch* hitch;
  Scale scale;
  std::vector<model::FrameSite> rows;  // that would explain it if they were usually absent
};

std::optional<ExplainingSite> judge(const Suspect& suspect, const model::Trace& trace,
                                    const model::FrameSites& around) {
  std::optional<ExplainingSite> best;
  for (const model::FrameSite& row : suspect.rows) {
    std::vector<double> ns;
    std::vector<double> bytes;
    for (const model::FrameId frame : frames_around(trace, suspect.hitch->frame)) {
      const auto rows = around.of(frame);
      const auto same =
          std::lower_bound(rows.begin(), rows.end(), row.site,
                           [](const model::FrameSite& r, model::SiteId id) { return r.site < id; });
      const bool called = same != rows.end() && same->site == row.site;
      ns.push_back(called ? suspect.scale.ns(*same) : 0);
      bytes.push_back(called ? static_cast<double>(same->bytes) : 0);
    }
    const double share =
        suspect.scale.share(suspect.scale.ns(row) - median_of(std::move(ns)),
                            static_cast<double>(row.bytes) - median_of(std::move(bytes)));
    if (share >= kExplains && (!best || share > best->share)) best = {row.site, share};
  }
  return best;
}

}  // namespace

std::map<model::FrameId, ExplainingSite> explaining_sites(load::TraceReader& reader,
                                                          const model::Trace& trace,
                                                          const std::vector<const Hitch*>& hitches,
                                                          const Measures& measures) {
  std::map<model::FrameId, ExplainingSite> result;
  if (!measures.sites_known || hitches.empty()) return result;
  std::vector<bool> wanted(trace.frames.size(), false);
  for (const Hitch* hitch : hitches) wanted[hitch->frame.index()] = true;
  const model::FrameSites own = model::load_frame_sites(reader, trace, wanted);
  std::vector<Suspect> suspects;
  for (const Hitch* hitch : hitches) {
    Suspect suspect{hitch, Scale(*hitch, trace, measures), {}};
    for (const model::FrameSite& row : own.of(hitch->frame)) {
      const double most =
          suspect.scale.share(suspect.scale.ns(row), static_cast<double>(row.bytes));
      if (most >= kExplains) suspect.rows.push_back(row);
    }
    if (!suspect.rows.empty()) suspects.push_back(std::move(suspect));
  }
  std::sort(suspects.begin(), suspects.end(),
            [](const Suspect& a, const Suspect& b) { return a.hitch->frame < b.hitch->frame; });
  for (std::size_t first = 0; first < suspects.size(); first += kHitchesAtOnce) {
    const std::size_t last = std::min(first + kHitchesAtOnce, suspects.size());
    wanted.assign(trace.frames.size(), false);
    for (std::size_t i = first; i < last; ++i) {
      for (const model::FrameId id : frames_around(trace, suspects[i].hitch->frame))
        wanted[id.index()] = true;
    }
    const model::FrameSites around = model::load_frame_sites(reader, trace, wanted);
    for (std::size_t i = first; i < last; ++i) {
      if (const auto best = judge(suspects[i], trace, around))
        result.emplace(suspects[i].hitch->frame, *best);
    }
  }
  return result;
}

}  // namespace hitch::analyse
