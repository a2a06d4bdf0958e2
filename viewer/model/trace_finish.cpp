#include "viewer/model/trace_finish.h"

#include <algorithm>

namespace hitch::model {
namespace {

template <class Id>
void drop(std::optional<Id>& id, std::size_t count) {
  if (id && id->index() >= count) id.reset();
}

}  // namespace

void leave_out_given_up(Trace& trace) {
  const auto first = std::lower_bound(
      trace.frames.begin(), trace.frames.end(), trace.given_up.frames,
      [](const Frame& frame, std::uint64_t number) { return frame.number < number; });
  const auto left_out = static_cast<std::size_t>(first - trace.frames.begin());
  if (left_out == 0) return;
  trace.given_up.ticks = first[-1].end - trace.frames.front().begin;
  trace.frames.erase(trace.frames.begin(), first);
  const auto move_up = [&](auto& rows) {
    std::erase_if(rows, [&](const auto& row) { return row.frame.index() < left_out; });
    for (auto& row : rows) row.frame = FrameId(row.frame.index() - left_out);
  };
  move_up(trace.frame_threads);
  move_up(trace.faults);
  move_up(trace.code_samples);
}

void index_frame_threads(Trace& trace) {
  trace.frame_thread_begin.assign(trace.frames.size() + 1, trace.frame_threads.size());
  for (std::size_t row = trace.frame_threads.size(); row-- > 0;) {
    trace.frame_thread_begin[trace.frame_threads[row].frame.index()] = row;
  }
  for (std::size_t frame = trace.frames.size(); frame-- > 0;) {
    trace.frame_thread_begin[frame] =
        std::min(trace.frame_thread_begin[frame], trace.frame_thread_begin[frame + 1]);
  }
}

void drop_dangling(Trace& trace) {
  for (Site& site : trace.sites) {
    drop(site.module, trace.modules.size());
    drop(site.stack, trace.stacks.size());
  }
  for (Stack& stack : trace.stacks) {
    for (auto& module : stack.modules) drop(module, trace.modules.size());
  }
  for (FrameThread& row : trace.frame_threads) drop(row.slowest_site, trace.sites.size());
  for (Place& place : trace.places) drop(place.module, trace.modules.size());
  for (FrameFault& row : trace.faults) {
    drop(row.place, trace.places.size());
    using format::FaultOwner;
    const bool of_site = row.owner == FaultOwner::kBlock || row.owner == FaultOwner::kAllocator;
    if ((of_site && row.id >= trace.sites.size()) ||
        (row.owner == FaultOwner::kModule && row.id >= trace.modules.size())) {
      row.owner = FaultOwner::kUnknown;
    }
    if (row.owner == FaultOwner::kMapping && row.id > trace.sites.size()) row.id = 0;
  }
  std::erase_if(trace.code_samples,
                [&](const CodeSample& row) { return row.place.index() >= trace.places.size(); });
  std::erase_if(trace.churn, [&](const format::trace::SiteChurn& row) {
    return row.site >= trace.sites.size();
  });
  for (Outlier& outlier : trace.outliers) {
    drop(outlier.site, trace.sites.size());
    drop(outlier.stack, trace.stacks.size());
  }
}

}  // namespace hitch::model
