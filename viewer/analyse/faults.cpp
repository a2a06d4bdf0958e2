#include "viewer/analyse/faults.h"

#include <algorithm>
#include <map>
#include <set>

#include "format/buffer_records.h"
#include "viewer/analyse/fault_price.h"

namespace hitch::analyse {

using format::FaultKind;
using format::FaultOwner;
using format::FaultPriceClass;

namespace {

constexpr double kPage = 4096;
constexpr double kHuge = 2.0 * 1024 * 1024;

FaultPriceClass price_class_of(FaultOwner owner, FaultKind kind) {
  if (kind == FaultKind::kHugePage) return FaultPriceClass::kHugePage;
  if (kind == FaultKind::kCopyOnWrite) return FaultPriceClass::kCopyOnWrite;
  if (owner == FaultOwner::kFile || owner == FaultOwner::kModule)
    return FaultPriceClass::kFilePages;
  return FaultPriceClass::kAnonymous;
}

bool is_release(std::uint8_t op) {
  switch (static_cast<format::Op>(op)) {
    case format::Op::kFree:
    case format::Op::kDelete:
    case format::Op::kDeleteArray:
    case format::Op::kMunmap:
      return true;
    default:
      return false;
  }
}

}  // namespace

FaultKind FaultGroup::kind() const {
  const auto most = std::max_element(kinds.begin(), kinds.end());
  return static_cast<FaultKind>(most - kinds.begin());
}

FaultPrices::FaultPrices(const model::Trace& trace, const Measures& measures) {
  for (std::size_t i = 0; i < ns_.size(); ++i) {
    ns_[i] = fault_price(trace, static_cast<FaultPriceClass>(i))
                 .best_ns(measures.faults_seen)
                 .value_or(measures.fault_price_ns);
  }
}

double FaultPrices::ns(FaultOwner owner, FaultKind kind) const {
  return ns_[static_cast<std::size_t>(price_class_of(owner, kind))];
}

std::vector<FaultGroup> fault_groups(const model::Trace& trace, const Measures& measures,
                                     std::span<const model::FrameFault> rows,
                                     const FaultFilter& wanted) {
  struct Sums {
    FaultGroup group;
    double ages = 0;
    std::map<model::PlaceId, std::uint64_t> places;
    std::map<model::ThreadId, std::uint64_t> threads;
  };
  const FaultPrices prices(trace, measures);
  std::map<std::pair<FaultOwner, std::uint64_t>, Sums> groups;
  for (const model::FrameFault& row : rows) {
    if (!wanted(row)) continue;
    Sums& sums = groups[{row.owner, row.id}];
    FaultGroup& group = sums.group;
    const auto faults = static_cast<double>(row.faults);
    group.owner = row.owner;
    group.id = row.id;
    group.faults += row.faults;
    group.call_faults += row.call_faults;
    group.waited_faults += row.waited_faults;
    group.kinds[static_cast<std::size_t>(row.kind)] += row.faults;
    group.bytes += faults * (row.kind == FaultKind::kHugePage ? kHuge : kPage);
    group.est_ns += faults * prices.ns(row.owner, row.kind);
    sums.ages += static_cast<double>(row.age_frames);
    if (row.place) sums.places[*row.place] += row.faults;
    if (row.thread) sums.threads[*row.thread] += row.faults;
  }
  const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
  std::vector<FaultGroup> result;
  for (auto& [key, sums] : groups) {
    FaultGroup& group = sums.group;
    if (group.faults > 0) group.mean_age_frames = sums.ages / static_cast<double>(group.faults);
    if (!sums.places.empty()) {
      const auto most = std::max_element(sums.places.begin(), sums.places.end(), by_count);
      group.place = most->first;
      group.place_faults = most->second;
    }
    if (!sums.threads.empty())
      group.thread = std::max_element(sums.threads.begin(), sums.threads.end(), by_count)->first;
    group.threads = sums.threads.size();
    result.push_back(group);
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const FaultGroup& a, const FaultGroup& b) { return a.est_ns > b.est_ns; });
  return result;
}

FrameFaults frame_faults_of(const model::Trace& trace, const Measures& measures,
                            model::FrameId id) {
  const model::Frame& frame = trace.frames[id.index()];
  FrameFaults faults;
  const auto is_own = [&](const model::FrameFault& row) {
    return !row.thread || (frame.thread && *row.thread == *frame.thread);
  };
  faults.own = fault_groups(trace, measures, trace.faults_of(id), is_own);
  faults.others = fault_groups(trace, measures, trace.faults_of(id),
                               [&](const model::FrameFault& row) { return !is_own(row); });
  for (const model::FrameThread& row : trace.threads_of(id)) {
    if (frame.thread && row.thread == *frame.thread) faults.seen = row.faults;
  }
  const std::uint64_t counted = frame.minor_faults + frame.major_faults;
  faults.unseen = counted - std::min(counted, faults.seen);
  return faults;
}

std::vector<Churn> churn_of(const model::Trace& trace, const Measures& measures) {
  constexpr std::uint64_t kLeastUnmaps = 3;
  const FaultPrices prices(trace, measures);
  std::map<std::uint64_t, Churn> sums;
  for (const format::trace::SiteChurn& row : trace.churn) {
    Churn& churn = sums[row.site];
    churn.site = model::SiteId(static_cast<std::size_t>(row.site));
    churn.allocs += row.allocs;
    churn.unmaps += row.remapped;
    churn.faults += row.faults;
    churn.bytes += static_cast<double>(row.bytes);
  }
  std::vector<Churn> found;
  for (auto& [site, churn] : sums) {
    if (churn.unmaps < kLeastUnmaps || churn.faults < 16 * churn.unmaps) continue;
    churn.est_ns =
        static_cast<double>(churn.faults) * prices.ns(FaultOwner::kBlock, FaultKind::kFirstTouch);
    found.push_back(churn);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Churn& a, const Churn& b) { return a.est_ns > b.est_ns; });
  return found;
}

FaultTotals fault_totals_of(const model::Trace& trace) {
  FaultTotals totals;
  for (const auto& [thread, counts] : trace.thread_faults) {
    totals.seen += counts.faults;
    totals.own += counts.own_faults;
    totals.own_at_start += counts.own_at_start;
    totals.most_own_later =
        std::max(totals.most_own_later,
                 counts.own_faults - std::min(counts.own_faults, counts.own_at_start));
    totals.lost = std::max(totals.lost, counts.lost);
  }
  for (const model::FrameThread& row : trace.frame_threads) {
    totals.in_system_calls += row.system_faults;
    totals.in_calls += row.call_faults;
    const model::Frame& frame = trace.frames[row.frame.index()];
    if (frame.kind != model::FrameKind::kPresent || !frame.thread || *frame.thread != row.thread ||
        (frame.flags & model::kCountersIncomplete) != 0)
      continue;
    totals.counted += frame.minor_faults + frame.major_faults;
    totals.seen_in_those += row.faults;
  }
  return totals;
}

OutlierCause outlier_cause(const model::Trace& trace, const model::Outlier& outlier,
                           const Measures& measures) {
  constexpr std::uint64_t kMapped = 128 * 1024;
  const bool release = is_release(outlier.op);
  if (outlier.switches_known) {
    if (outlier.preempted_ticks * 2 >= outlier.ticks) return OutlierCause::kPreempted;
    if (outlier.off_ticks * 2 >= outlier.ticks) return OutlierCause::kContention;
    const double faults = static_cast<double>(outlier.faults) * measures.fault_price_ns;
    if (faults * 2 >= trace.clock.ns(outlier.ticks)) return OutlierCause::kFaults;
  }
  if (outlier.size >= kMapped) return OutlierCause::kMapping;
  if (release) return OutlierCause::kTrimming;
  if (outlier.faults > 0) return OutlierCause::kMapping;
  return OutlierCause::kUnknown;
}

}  // namespace hitch::analyse
