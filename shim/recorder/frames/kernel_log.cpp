#include "recorder/frames/kernel_log.h"

#include <algorithm>

namespace hitch::frames {

using faults::KernelEvent;
using faults::KernelEventKind;
namespace trace = format::trace;

namespace {

constexpr std::uint64_t kPatienceMs = 500;
// A timer that is set at each switch makes switches dear, on virtual machines most of all: threads
// are followed from their second look on, while they switch seldom.
constexpr std::uint64_t kFollowEveryMs = 250;
constexpr std::uint64_t kMostSwitches = 250;  // in that time; the presenting thread may do more
constexpr std::size_t kMostSamples = 1u << 18;
constexpr std::uint64_t kPricesEveryMs = 5000;
constexpr std::size_t kMostThreads = 1u << 20;

}  // namespace

KernelLog::KernelLog(const Parts& parts, const resolve::ProcessFiles& files, std::uint64_t tsc_hz)
    : parts_(parts),
      space_(files),
      places_(parts.out, parts.modules),
      hz_(tsc_hz),
      patience_(tsc_hz / 1000 * kPatienceMs) {}

void KernelLog::fetch() {
  if (source_ == nullptr) return;
  queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  const std::size_t waiting = queue_.size();
  source_->read(queue_);
  // What was stamped before the last fetch and became visible after it.
  if (waiting > 0 && waiting < queue_.size() && queue_[waiting].key < queue_[waiting - 1].key) {
    std::stable_sort(queue_.begin(), queue_.end(),
                     [](const KernelEvent& a, const KernelEvent& b) { return a.key < b.key; });
  }
  next_key_ = queue_.empty() ? ~std::uint64_t{0} : queue_.front().key;
}

void KernelLog::take_until(std::uint64_t key) {
  while (taken_ < queue_.size() && queue_[taken_].key < key) take(queue_[taken_++]);
  next_key_ = taken_ < queue_.size() ? queue_[taken_].key : ~std::uint64_t{0};
}

ThreadKernel* KernelLog::thread_started(std::uint32_t number, std::uint64_t key) {
  if (threads_.size() <= number) threads_.resize(number + std::size_t{1});
  if (threads_[number] == nullptr) {
    threads_[number] = std::make_unique<ThreadKernel>();
    threads_[number]->number = number;
    threads_[number]->since = key;
  }
  ThreadKernel& thread = *threads_[number];
  thread.tid = static_cast<std::uint32_t>(parts_.threads.outside(number));
  if (thread.tid != 0) numbers_[thread.tid] = number;
  thread.own_at_start = thread.own_faults;
  thread.early = false;
  return &thread;
}

void KernelLog::thread_ended(std::uint32_t number) {
  if (number >= threads_.size() || threads_[number] == nullptr) return;
  ThreadKernel& thread = *threads_[number];
  const auto known = numbers_.find(thread.tid);
  if (sees_switches() && known != numbers_.end() && known->second == number) {
    thread.drained = true;  // closed when the kernel says so too
  } else {
    close(thread);
  }
}

void KernelLog::close(ThreadKernel& thread) {
  settle_until(thread, ~std::uint64_t{0});
  write_totals(thread);
  const auto known = numbers_.find(thread.tid);
  if (known != numbers_.end() && known->second == thread.number) numbers_.erase(known);
  if (thread.followed && source_ != nullptr) source_->unfollow(static_cast<pid_t>(thread.tid));
  if (presenter_ == &thread) presenter_ = nullptr;
  threads_[thread.number].reset();
}

ThreadKernel* KernelLog::thread_of(std::uint32_t tid, std::uint64_t key) {
  const auto known = numbers_.find(tid);
  if (known != numbers_.end()) return threads_[known->second].get();
  if (!early_.number || threads_.size() >= kMostThreads) return nullptr;
  const std::uint32_t inside = parts_.threads.inside_id(static_cast<pid_t>(tid));
  const std::uint32_t number = early_.number(inside);
  parts_.threads.started(number, inside, key);
  ThreadKernel* thread = thread_started(number, key);
  thread->early = true;
  thread->tid = tid;
  numbers_[tid] = number;
  return thread;
}

void KernelLog::take(const KernelEvent& event) {
  last_key_ = std::max(last_key_, event.key);
  if (event.kind == KernelEventKind::kFork) {
    ++forks_;
    return;
  }
  if (event.kind == KernelEventKind::kThreadEnd) {
    const auto known = numbers_.find(event.tid);
    if (known == numbers_.end()) return;
    ThreadKernel& thread = *threads_[known->second];
    // The id may be another thread's by now.
    if (event.key < thread.since) return;
    numbers_.erase(known);
    if (thread.early) {
      early_.forget(parts_.threads.inside_id(static_cast<pid_t>(event.tid)));
      parts_.threads.ended(thread.number);
    }
    if (thread.early || thread.drained) close(thread);
    return;
  }
  ThreadKernel* thread = thread_of(event.tid, event.key);
  if (thread == nullptr) return;
  switch (event.kind) {
    case KernelEventKind::kFault:
      return take_fault(*thread, event);
    case KernelEventKind::kFaultEnd:
      return take_fault_end(*thread, event);
    case KernelEventKind::kMajor:
      for (auto fault = thread->pending.rbegin(); fault != thread->pending.rend(); ++fault) {
        if (fault->address != event.address) continue;
        fault->kind = format::FaultKind::kMajor;
        return;
      }
      return;
    case KernelEventKind::kSwitchOut:
      return switch_out(*thread, event);
    case KernelEventKind::kSwitchIn:
      return switch_in(*thread, event);
    case KernelEventKind::kSample:
      if (samples_.size() >= kMostSamples) samples_.pop_front();
      samples_.push_back({event.key, event.ip, thread->number});
      return;
    default:
      return;
  }
}

void KernelLog::switch_out(ThreadKernel& thread, const KernelEvent& event) {
  ++thread.switches;
  thread.off = true;
  thread.open = {event.key, 0, event.preempted};
  if (&thread == presenter_) {
    taken_cpu_ = {event.preempted, event.processor, 0, 0};
  } else if (taken_cpu_.open && taken_cpu_.since != 0 && taken_cpu_.processor == event.processor) {
    taken_cpu_.ticks += event.key - taken_cpu_.since;
    taken_cpu_.since = 0;
  }
}

void KernelLog::switch_in(ThreadKernel& thread, const KernelEvent& event) {
  const bool presents = &thread == presenter_;
  if (taken_cpu_.open && presents) {
    if (taken_cpu_.since != 0) taken_cpu_.ticks += event.key - taken_cpu_.since;
    if (taken_cpu_.ticks > 0) row_at(thread.number, event.key).taken_ticks += taken_cpu_.ticks;
    taken_cpu_ = {};
  } else if (taken_cpu_.open && taken_cpu_.processor == event.processor) {
    taken_cpu_.since = event.key;
  }
  if (!thread.off) return;
  thread.off = false;
  const OffInterval interval{thread.open.begin, std::max(event.key, thread.open.begin),
                             thread.open.preempted};
  if (presents) waited_until_ = interval.end;
  thread.note_off(interval);
  add_off(thread.number, {std::max(interval.begin, std::min(thread.off_counted, interval.end)),
                          interval.end, interval.preempted});
}

ThreadRow& KernelLog::row_at(std::uint32_t thread, std::uint64_t key) {
  FrameRows& rows = parts_.timeline.at(key).rows;
  return rows.thread_row(rows.thread_number(thread));
}

// The whole interval lies in the frame of its end.
void KernelLog::count_off(std::uint32_t thread, const OffInterval& interval) {
  if (interval.end <= interval.begin) return;
  ThreadRow& row = row_at(thread, interval.end);
  row.off_ticks += interval.end - interval.begin;
  if (interval.preempted) row.preempted_ticks += interval.end - interval.begin;
}

// Into the frames at both ends. A frame that lies in between is one the thread slept through: it
// has no row there.
void KernelLog::add_off(std::uint32_t thread, const OffInterval& interval) {
  const OpenFrame& last = parts_.timeline.at(interval.end);
  const std::uint64_t last_begin = last.record.begin;
  if (last_begin <= interval.begin) return count_off(thread, interval);
  count_off(thread, {last_begin, interval.end, interval.preempted});
  const OpenFrame& first = parts_.timeline.at(interval.begin + 1);
  count_off(thread, {interval.begin, first.record.end, interval.preempted});
}

OffTime KernelLog::presented(std::uint32_t thread, std::uint64_t present_entry,
                             std::uint64_t exit) {
  // Who is off the CPU since this frame began may be so for long, and the row is written soon.
  const std::uint64_t begin = parts_.timeline.current().record.begin;
  for (const auto& other : threads_) {
    if (other == nullptr || !other->off || other->open.begin <= begin) continue;
    count_off(other->number, {other->open.begin, exit, other->open.preempted});
    other->off_counted = exit;
  }
  OffTime inside;
  ThreadKernel* presenter = thread < threads_.size() ? threads_[thread].get() : nullptr;
  if (presenter_ != presenter) {
    waited_until_ = 0;
    taken_cpu_ = {};
  }
  presenter_ = presenter;
  if (presenter == nullptr) return inside;
  for (const OffInterval& interval : presenter->in_frame) {
    const std::uint64_t from = std::max(interval.begin, present_entry);
    const std::uint64_t to = std::min(interval.end, exit);
    if (to <= from) continue;
    inside.ticks += to - from;
    if (interval.preempted) inside.preempted_ticks += to - from;
  }
  presenter->in_frame.clear();
  return inside;
}

void KernelLog::large_allocated(std::uint64_t address, std::uint32_t site, std::uint64_t size) {
  Churn& churn = churn_[site];
  ++churn.allocs;
  churn.bytes += size;
  if (churn.open > 0) {
    const std::uint64_t faults = churn.open_faults / churn.open;
    --churn.open;
    churn.open_faults -= faults;
    ++churn.remapped;
    churn.faults += faults;
  }
  if (large_faults_.size() < kMostLarge) large_faults_[address] = 0;
}

void KernelLog::large_freed(ThreadKernel& thread, std::uint64_t key, std::uint64_t address,
                            const resolve::LiveBlock& block, std::uint64_t frame) {
  if (thread.dirty) settle_until(thread, key);
  Churn& churn = churn_[block.site];
  ++churn.frees;
  const auto faults = large_faults_.find(address);
  if (has_own_mapping(address)) {
    ++churn.open;
    if (faults != large_faults_.end()) churn.open_faults += faults->second;
  }
  if (faults != large_faults_.end()) large_faults_.erase(faults);
  if (static_cast<std::uint16_t>(static_cast<std::uint16_t>(frame) - block.born) <= 2)
    ++churn.short_lived;
  watched_.erase(address);
}

void KernelLog::large_reallocated(std::uint64_t old_address, std::uint64_t new_address) {
  std::uint64_t faults = 0;
  if (const auto old = large_faults_.find(old_address); old != large_faults_.end()) {
    faults = old->second;
    large_faults_.erase(old);
  }
  if (old_address != new_address) watched_.erase(old_address);
  if (new_address != 0 && large_faults_.size() < kMostLarge) large_faults_[new_address] = faults;
}

void KernelLog::advance(std::uint64_t horizon, std::uint64_t now_ms) {
  now_ms_ = now_ms;
  take_until(horizon + 1);
  for (const auto& thread : threads_) {
    if (thread == nullptr || thread->pending.empty()) continue;
    if (thread->pending.front().key + patience_ < horizon)
      settle_until(*thread, horizon - patience_);
  }
  if (now_ms >= followed_ms_ + kFollowEveryMs) {
    followed_ms_ = now_ms;
    choose_followed();
  }
  if (source_ != nullptr && source_->kind() == faults::SourceKind::kPagemap) look_at_pages(now_ms);
  if (!parts_.timeline.has_presents()) {
    while (!samples_.empty() && samples_.front().key + hz_ < horizon) samples_.pop_front();
  }
  if (now_ms >= prices_written_ms_ + kPricesEveryMs) {
    prices_written_ms_ = now_ms;
    write_prices();
  }
}

void KernelLog::choose_followed() {
  if (!sees_switches()) return;
  for (const auto& thread : threads_) {
    if (thread == nullptr || thread->tid == 0) continue;
    const bool seldom = thread->switches <= kMostSwitches || thread.get() == presenter_;
    thread->switches = 0;
    if (!thread->looked_at) {
      thread->looked_at = true;
    } else if (seldom && !thread->followed) {
      thread->followed = true;
      source_->follow(static_cast<pid_t>(thread->tid));
    } else if (!seldom && thread->followed) {
      thread->followed = false;
      source_->unfollow(static_cast<pid_t>(thread->tid));
    }
  }
}

void KernelLog::judged(const trace::Frame& frame, bool is_hitch) {
  std::unordered_map<std::uint64_t, std::uint64_t> sums;
  while (!samples_.empty() && samples_.front().key <= frame.end) {
    const Sample& sample = samples_.front();
    if (is_hitch && sample.key > frame.begin) {
      const std::uint64_t place = places_.id_plus_one(sample.ip, sample.key, now_ms_);
      if (place != 0) ++sums[std::uint64_t{sample.thread} << 32 | (place - 1)];
    }
    samples_.pop_front();
  }
  for (const auto& [key, samples] : sums)
    parts_.out.put(trace::CodeSample{frame.id, key >> 32, key & 0xffffffffu, samples});
}

void KernelLog::finish() {
  take_until(~std::uint64_t{0});
  for (const auto& thread : threads_) {
    if (thread == nullptr) continue;
    settle_until(*thread, ~std::uint64_t{0});
    write_totals(*thread);
  }
  write_prices();
  write_churn();
}

void KernelLog::write_prices() {
  for (std::size_t price_class = 0; price_class < prices_.size(); ++price_class) {
    std::vector<std::uint32_t> ticks = prices_[price_class];
    if (ticks.size() < 4) continue;
    std::sort(ticks.begin(), ticks.end());
    const auto picoseconds = [&](std::size_t at) {
      return static_cast<std::uint64_t>(static_cast<double>(ticks[at]) * 1e12 /
                                        static_cast<double>(hz_));
    };
    parts_.out.put(trace::FaultPrice{price_class, 1, priced_[price_class],
                                     picoseconds(ticks.size() / 2), picoseconds(ticks.size() / 10),
                                     picoseconds(ticks.size() * 9 / 10), 0, 0});
  }
}

void KernelLog::write_totals(const ThreadKernel& thread) {
  if (thread.faults == 0 && thread.number != 0) return;
  const std::uint64_t lost =
      source_ != nullptr && thread.number == 0 ? source_->counts().lost : std::uint64_t{0};
  parts_.out.put(trace::ThreadFaults{thread.number, thread.faults, thread.own_faults,
                                     thread.own_at_start, lost});
}

void KernelLog::write_churn() {
  for (const auto& [site, churn] : churn_) {
    parts_.out.put(trace::SiteChurn{site, churn.allocs, churn.frees, churn.remapped, churn.bytes,
                                    churn.faults, churn.short_lived});
  }
}

}  // namespace hitch::frames
