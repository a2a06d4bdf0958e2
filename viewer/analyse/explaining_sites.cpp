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

// The first site of each place, and the first frame any of its sites was called in.
class Places {
 public:
  explicit Places(const model::Trace& trace) : first_site_(trace.sites.size()) {
    std::map<std::uint64_t, model::SiteId> first;
    first_frame_.resize(trace.sites.size(), ~std::uint64_t{0});
    for (std::size_t i = 0; i < trace.sites.size(); ++i) {
      const bool grouped = !trace.group_of_site.empty();
      first_site_[i] =
          first.try_emplace(grouped ? trace.sites[i].place : i, model::SiteId(i)).first->second;
      std::uint64_t& frame = first_frame_[first_site_[i].index()];
      frame = std::min(frame, trace.site_totals[i].first_frame);
    }
  }
  model::SiteId of(model::SiteId site) const { return first_site_[site.index()]; }
  std::uint64_t first_frame(model::SiteId place) const { return first_frame_[place.index()]; }

 private:
  std::vector<model::SiteId> first_site_;
  std::vector<std::uint64_t> first_frame_;
};

struct Work {
  double ns = 0;
  double bytes = 0;
};
using WorkByPlace = std::map<model::SiteId, Work>;

WorkByPlace work_of(const model::FrameSites& rows, model::FrameId frame, const Scale& scale,
                    const Places& places) {
  WorkByPlace work;
  for (const model::FrameSite& row : rows.of(frame)) {
    Work& sum = work[places.of(row.site)];
    sum.ns += scale.ns(row);
    sum.bytes += static_cast<double>(row.bytes);
  }
  return work;
}

struct Suspect {
  const Hitch* hitch;
  Scale scale;
  WorkByPlace work;  // that would explain it if it were usually absent
};

std::optional<ExplainingSite> judge(const Suspect& suspect, const model::Trace& trace,
                                    const model::FrameSites& rows, const Places& places) {
  const std::vector<model::FrameId> around = frames_around(trace, suspect.hitch->frame);
  std::map<model::SiteId, std::pair<std::vector<double>, std::vector<double>>> usual;
  for (const model::FrameId frame : around) {
    const WorkByPlace work = work_of(rows, frame, suspect.scale, places);
    for (const auto& [place, mine] : suspect.work) {
      const auto same = work.find(place);
      auto& [ns, bytes] = usual[place];
      ns.push_back(same == work.end() ? 0 : same->second.ns);
      bytes.push_back(same == work.end() ? 0 : same->second.bytes);
    }
  }
  std::optional<ExplainingSite> best;
  for (const auto& [place, mine] : suspect.work) {
    auto& [ns, bytes] = usual[place];
    const double share = suspect.scale.share(mine.ns - median_of(std::move(ns)),
                                             mine.bytes - median_of(std::move(bytes)));
    if (share >= kExplains && (!best || share > best->share))
      best = ExplainingSite{place, share, places.first_frame(place)};
  }
  return best;
}

// Where the owners of faults were seen, nothing needs to be weighed.
std::optional<ExplainingSite> owner_of_faults(const Hitch& hitch, const model::Trace& trace,
                                              const Places& places) {
  const bool own = hitch.verdict == Verdict::kFaults;
  if (!own && hitch.verdict != Verdict::kWaitingOnMemory) return std::nullopt;
  const std::vector<FaultGroup>& groups = own ? hitch.faults.own : hitch.faults.others;
  if (groups.empty() || groups.front().owner != format::FaultOwner::kBlock || hitch.excess_ns <= 0)
    return std::nullopt;
  const double share = std::min(groups.front().est_ns / hitch.excess_ns, 1.0);
  const auto site = static_cast<std::size_t>(groups.front().id);
  if (share < kExplains || site >= trace.sites.size()) return std::nullopt;
  const model::SiteId place = places.of(model::SiteId(site));
  return ExplainingSite{place, share, places.first_frame(place)};
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
  const Places places(trace);
  std::vector<Suspect> suspects;
  for (const Hitch* hitch : hitches) {
    if (const auto exact = owner_of_faults(*hitch, trace, places)) {
      result.emplace(hitch->frame, *exact);
      continue;
    }
    Suspect suspect{hitch, Scale(*hitch, trace, measures), {}};
    suspect.work = work_of(own, hitch->frame, suspect.scale, places);
    std::erase_if(suspect.work, [&](const auto& entry) {
      return suspect.scale.share(entry.second.ns, entry.second.bytes) < kExplains;
    });
    if (!suspect.work.empty()) suspects.push_back(std::move(suspect));
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
      if (const auto best = judge(suspects[i], trace, around, places))
        result.emplace(suspects[i].hitch->frame, *best);
    }
  }
  return result;
}

}  // namespace hitch::analyse
