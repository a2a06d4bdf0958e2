#include "viewer/analyse/call_sites.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "viewer/analyse/quantiles.h"

namespace hitch::analyse {

CallSites call_sites_of(const model::Trace& trace, const Measures& measures) {
  CallSites result;
  for (std::size_t i = 0; i < trace.site_totals.size(); ++i) {
    const model::SiteTotals& sum = trace.site_totals[i];
    if (sum.calls() == 0) continue;
    result.ranked.push_back(model::SiteId(i));
    result.total_ns += trace.clock.ns(sum.ticks);
    result.total_calls += sum.calls();
  }
  const auto weight = [&](model::SiteId id) {
    const model::SiteTotals& sum = trace.site_totals[id.index()];
    return measures.calls_timed ? trace.clock.ns(sum.ticks) : static_cast<double>(sum.calls());
  };
  std::stable_sort(result.ranked.begin(), result.ranked.end(),
                   [&](model::SiteId a, model::SiteId b) { return weight(a) > weight(b); });
  const double total =
      measures.calls_timed ? result.total_ns : static_cast<double>(result.total_calls);
  for (std::size_t share = 0; share < CallSites::kShares.size(); ++share) {
    const double wanted = total * CallSites::kShares[share] / 100;
    double seen = 0;
    std::size_t sites = 0;
    while (sites < result.ranked.size() && seen < wanted) seen += weight(result.ranked[sites++]);
    result.sites_for_share[share] = sites;
  }
  return result;
}

std::vector<HitchSite> sites_of(const Hitch& hitch, const model::Trace& trace,
                                const model::FrameSites& rows) {
  const std::vector<model::FrameId> around = frames_around(trace, hitch.frame);
  std::map<model::SiteId, std::pair<std::vector<double>, std::vector<double>>> usual;
  const auto mine = rows.of(hitch.frame);
  for (const model::FrameSite& row : mine) usual.try_emplace(row.site);
  for (const model::FrameId id : around) {
    for (const model::FrameSite& row : rows.of(id)) {
      const auto found = usual.find(row.site);
      if (found == usual.end()) continue;
      found->second.first.push_back(static_cast<double>(row.calls()));
      found->second.second.push_back(trace.clock.ns(row.ticks));
    }
  }
  std::vector<HitchSite> sites;
  for (const model::FrameSite& row : mine) {
    auto& [calls, ns] = usual[row.site];
    calls.resize(around.size());
    ns.resize(around.size());
    HitchSite site;
    site.work = row;
    site.usual_calls = median_of(std::move(calls));
    site.usual_ns = median_of(std::move(ns));
    site.excess_ns = trace.clock.ns(row.ticks) - site.usual_ns;
    sites.push_back(site);
  }
  std::stable_sort(sites.begin(), sites.end(), [](const HitchSite& a, const HitchSite& b) {
    const auto key = [](const HitchSite& s) {
      return std::tuple(s.excess_ns, static_cast<double>(s.work.calls()) - s.usual_calls);
    };
    return key(a) > key(b);
  });
  return sites;
}

void want_frames_around(const Hitch& hitch, const model::Trace& trace, std::vector<bool>& wanted) {
  wanted[hitch.frame.index()] = true;
  for (const model::FrameId id : frames_around(trace, hitch.frame)) wanted[id.index()] = true;
}

}  // namespace hitch::analyse
