#include "viewer/model/site_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "format/buffer_records.h"

namespace hitch::model {
namespace {

// Kinds of call that are never summed together.
int kind_of(std::uint8_t op) {
  switch (static_cast<format::Op>(op)) {
    case format::Op::kFree:
    case format::Op::kDelete:
    case format::Op::kDeleteArray:
      return 1;
    case format::Op::kRealloc:
      return 2;
    case format::Op::kHeap:
      return 3;
    case format::Op::kMmap:
    case format::Op::kMunmap:
    case format::Op::kMremap:
      return 4;
    default:
      return 0;
  }
}

void note_quality(const Site& site, const SiteTotals& totals, Trace& trace) {
  if (!site.stack) return;
  const Stack& stack = trace.stacks[site.stack->index()];
  StackQuality& quality = trace.stack_quality;
  const std::uint64_t calls = totals.calls();
  quality.calls += calls;
  if ((stack.flags & format::kStackIsCut) != 0) quality.cut_calls += calls;
  if ((stack.flags & format::kStackIsTruncated) == 0) return;
  quality.truncated_calls += calls;
  if (!stack.modules.empty() && stack.modules.back())
    quality.truncated_in[*stack.modules.back()] += calls;
}

struct Weight {
  std::uint64_t ticks = 0;
  std::uint64_t calls = 0;
  friend auto operator<=>(const Weight&, const Weight&) = default;
};

}  // namespace

void group_sites(Trace& trace, const SiteKeyOf& key_of) {
  std::map<std::pair<std::string, int>, SiteId> ids;
  std::map<std::string, std::uint64_t> places;
  std::vector<Site> groups;
  std::vector<SiteTotals> totals;
  std::vector<Weight> heaviest;
  std::vector<SiteId> group_of;
  group_of.reserve(trace.sites.size());
  for (std::size_t i = 0; i < trace.sites.size(); ++i) {
    const Site& site = trace.sites[i];
    const SiteTotals& sum = trace.site_totals[i];
    note_quality(site, sum, trace);
    const SiteKey key = key_of(site);
    const auto [place, fresh] =
        ids.try_emplace({key.group, kind_of(site.op)}, SiteId(groups.size()));
    const std::size_t group = place->second.index();
    group_of.push_back(place->second);
    if (fresh) {
      const std::uint64_t where =
          places.try_emplace(key.function.empty() ? key.group : key.function, places.size())
              .first->second;
      groups.push_back({key.address, key.module, site.op, {}, 0, key.name, where});
      totals.emplace_back();
      heaviest.emplace_back();
    }
    if (site.stack) ++groups[group].stacks;
    const Weight weight{sum.ticks, sum.calls()};
    if (site.stack && (!groups[group].stack || weight > heaviest[group])) {
      groups[group].stack = site.stack;
      // Named by the entry of this stack, so that its callers are found in it.
      groups[group].address = key.address;
      groups[group].module = key.module;
      heaviest[group] = weight;
    }
    SiteTotals& all = totals[group];
    all.frames = std::max(all.frames, sum.frames);
    all.first_frame = std::min(all.first_frame, sum.first_frame);
    all.allocs += sum.allocs;
    all.frees += sum.frees;
    all.reallocs += sum.reallocs;
    all.bytes += sum.bytes;
    all.ticks += sum.ticks;
    all.slowest_ticks = std::max(all.slowest_ticks, sum.slowest_ticks);
  }
  const auto follow = [&](std::optional<SiteId>& site) {
    if (site && site->index() < group_of.size()) site = group_of[site->index()];
  };
  for (Outlier& outlier : trace.outliers) follow(outlier.site);
  for (FrameThread& row : trace.frame_threads) follow(row.slowest_site);
  for (format::trace::LargeBlock& block : trace.large_blocks) {
    if (block.site < group_of.size()) block.site = group_of[block.site].index();
  }
  for (FrameFault& row : trace.faults) {
    const bool of_site =
        row.owner == format::FaultOwner::kBlock || row.owner == format::FaultOwner::kAllocator;
    if (of_site && row.id < group_of.size()) row.id = group_of[row.id].index();
    if (row.owner == format::FaultOwner::kMapping && row.id != 0 && row.id <= group_of.size())
      row.id = group_of[row.id - 1].index() + std::uint64_t{1};
  }
  for (format::trace::SiteChurn& row : trace.churn) {
    if (row.site < group_of.size()) row.site = group_of[row.site].index();
  }
  trace.sites = std::move(groups);
  trace.site_totals = std::move(totals);
  trace.group_of_site = std::move(group_of);
}

}  // namespace hitch::model
