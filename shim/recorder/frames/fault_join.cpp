// The part of KernelLog that finds out whose memory a page fault touched.
#include <algorithm>

#include "recorder/frames/kernel_log.h"

namespace hitch::frames {

using faults::KernelEvent;
using format::FaultKind;
using format::FaultOwner;
using format::FaultPriceClass;

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kHugeBytes = std::uint64_t{2} << 20;
constexpr std::size_t kMostPrices = 4096;
constexpr std::uint64_t kYoungMs = 2000;
constexpr std::uint64_t kOldLookMs = 100;

bool is_own_library(const std::string& path) {
  return path.find("libhitchtrace.so") != std::string::npos ||
         path.find("memfd:hitchtrace") != std::string::npos;
}

}  // namespace

PendingFault KernelLog::attribute(const ThreadKernel& thread, const KernelEvent& event) {
  PendingFault fault{};
  fault.key = event.key;
  fault.address = event.address;
  fault.ip = event.in_kernel ? 0 : event.ip;
  fault.in_system_call = event.in_kernel;
  fault.waited = presenter_ != nullptr && presenter_ != &thread && presenter_->off;
  const auto before = history_.touch(event.address, event.key, forks_);
  fault.kind = !before                  ? FaultKind::kFirstTouch
               : forks_ > before->forks ? FaultKind::kCopyOnWrite
                                        : FaultKind::kAgain;
  if (own_[0].hold(event.address) || own_[1].hold(event.address)) {
    fault.owner = FaultOwner::kShim;
    return fault;
  }
  if (const auto holder = parts_.blocks.holder(event.address)) {
    fault.owner = FaultOwner::kBlock;
    fault.id = holder->block.site;
    fault.block = holder->start;
    const auto frame = static_cast<std::uint16_t>(parts_.timeline.at(event.key).record.id);
    fault.age_frames = static_cast<std::uint16_t>(frame - holder->block.born);
    // The page had faulted under an earlier block: the kernel got it back in between.
    if (before && (holder->since == 0 || holder->since > before->key))
      fault.kind = FaultKind::kRecycled;
    const std::uint64_t region = event.address / kHugeBytes * kHugeBytes;
    if (region >= holder->start && region + kHugeBytes <= holder->start + holder->block.size &&
        source_ != nullptr && source_->pagemap() != nullptr) {
      if (region != huge_region_) huge_answer_ = source_->pagemap()->is_huge(event.address);
      huge_region_ = region;
      if (huge_answer_) fault.kind = FaultKind::kHugePage;
    }
    return fault;
  }
  if (const std::uint64_t module = parts_.modules.find(event.address); module != 0) {
    fault.owner = is_own_library(parts_.modules.describe(event.address)) ? FaultOwner::kShim
                                                                         : FaultOwner::kModule;
    fault.id = module - 1;
    return fault;
  }
  const resolve::Mapping* mapping = space_.at(event.address, now_ms_);
  const std::uint32_t* const by = mmaps_.find(event.address);
  if (by != nullptr && (mapping == nullptr || mapping->kind == resolve::MappingKind::kAnonymous ||
                        mapping->kind == resolve::MappingKind::kStack)) {
    fault.owner = FaultOwner::kMapping;
    fault.id = *by + std::uint64_t{1};
    return fault;
  }
  if (mapping == nullptr) {
    fault.owner = FaultOwner::kUnknown;
    return fault;
  }
  if (mapping->kind == resolve::MappingKind::kStack) {
    fault.owner = FaultOwner::kStack;
  } else if (is_own_library(mapping->path)) {
    fault.owner = FaultOwner::kShim;
  } else if (mapping->kind == resolve::MappingKind::kFile ||
             mapping->kind == resolve::MappingKind::kShared) {
    fault.owner = FaultOwner::kFile;
    fault.id = parts_.texts.id(mapping->path);
  } else {
    fault.owner = FaultOwner::kMapping;
  }
  return fault;
}

void KernelLog::take_fault(ThreadKernel& thread, const KernelEvent& event) {
  const PendingFault fault = attribute(thread, event);
  thread.dirty = true;
  thread.fault_key = event.key;
  thread.fault_page = event.address / kPageBytes;
  switch (fault.owner) {
    case FaultOwner::kModule:
    case FaultOwner::kFile:
      thread.fault_class = FaultPriceClass::kFilePages;
      break;
    default:
      thread.fault_class = fault.kind == FaultKind::kHugePage      ? FaultPriceClass::kHugePage
                           : fault.kind == FaultKind::kCopyOnWrite ? FaultPriceClass::kCopyOnWrite
                                                                   : FaultPriceClass::kAnonymous;
  }
  // Many faults without an allocator call between them: what a call could still claim is recent.
  constexpr std::size_t kMostPending = 1u << 16;
  if (thread.pending.size() >= kMostPending) settle_until(thread, event.key);
  thread.pending.push_back(fault);
}

void KernelLog::take_fault_end(ThreadKernel& thread, const KernelEvent& event) {
  if (event.address / kPageBytes != thread.fault_page || event.key <= thread.fault_key) return;
  if (thread.off_within(thread.fault_key, event.key).ticks > 0) return;
  std::vector<std::uint32_t>& prices = prices_[static_cast<std::size_t>(thread.fault_class)];
  std::uint64_t& priced = priced_[static_cast<std::size_t>(thread.fault_class)];
  const auto ticks =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(event.key - thread.fault_key, ~0u));
  if (prices.size() < kMostPrices) {
    prices.push_back(ticks);
  } else {
    prices[priced % kMostPrices] = ticks;
  }
  ++priced;
}

void KernelLog::count(ThreadKernel& thread, const PendingFault& fault, bool in_call) {
  ++thread.faults;
  if (fault.owner == FaultOwner::kShim) ++thread.own_faults;
  if (fault.block != 0 && large_faults_.size() < kMostLarge) {
    const auto large = large_faults_.find(fault.block);
    if (large != large_faults_.end()) ++large->second;
  }
  OpenFrame& frame = parts_.timeline.at(fault.key);
  ThreadRow& row = frame.rows.thread_row(frame.rows.thread_number(thread.number));
  ++row.faults;
  if (in_call) ++row.call_faults;
  if (fault.kind == FaultKind::kMajor) ++row.major_faults;
  if (fault.in_system_call) ++row.system_faults;
  if (fault.waited) ++row.waited_faults;
  const std::uint64_t place = places_.id_plus_one(fault.ip, fault.key, now_ms_);
  FaultRow& sum = frame.rows.fault_row({thread.number, fault.owner, fault.kind, fault.id, place});
  ++sum.faults;
  if (in_call) ++sum.call_faults;
  if (fault.waited) ++sum.waited_faults;
  sum.age_frames += fault.age_frames;
}

void KernelLog::settle_until(ThreadKernel& thread, std::uint64_t key) {
  std::size_t settled = 0;
  while (settled < thread.pending.size() && thread.pending[settled].key < key)
    count(thread, thread.pending[settled++], false);
  thread.pending.erase(thread.pending.begin(),
                       thread.pending.begin() + static_cast<std::ptrdiff_t>(settled));
}

void KernelLog::settle(ThreadKernel& thread, const CallSpan& call) {
  settle_until(thread, call.begin);
  std::size_t inside = 0;
  for (; inside < thread.pending.size() && thread.pending[inside].key <= call.end; ++inside) {
    PendingFault& fault = thread.pending[inside];
    if (call.block != 0 && fault.address - call.block < call.size) {
      fault.owner = FaultOwner::kBlock;
      fault.id = call.site;
      fault.block = call.block;
      fault.age_frames = 0;
      if (fault.kind == FaultKind::kAgain) fault.kind = FaultKind::kRecycled;
    } else if ((fault.owner == FaultOwner::kMapping && fault.id == 0) ||
               fault.owner == FaultOwner::kUnknown) {
      fault.owner = FaultOwner::kAllocator;
      fault.id = call.site;
    }
    count(thread, fault, true);
  }
  thread.pending.erase(thread.pending.begin(),
                       thread.pending.begin() + static_cast<std::ptrdiff_t>(inside));
  thread.call_begin = call.begin;
  thread.call_end = call.end;
  thread.call_faults = inside;
  const OffTime off = thread.off_within(call.begin, call.end);
  if (off.ticks > 0) {
    ThreadRow& row = row_at(thread.number, call.begin);
    row.call_off_ticks += off.ticks;
    row.call_preempted_ticks += off.preempted_ticks;
    if (off.voluntary) ++row.blocked_calls;
  }
  thread.dirty = !thread.pending.empty() || thread.last_off_end > call.end;
}

KernelLog::CallFacts KernelLog::facts_of(const ThreadKernel& thread, std::uint64_t ticks,
                                         std::uint64_t end) const {
  if (thread.call_end - thread.call_begin == ticks && thread.call_end <= end &&
      thread.call_end + hz_ / 1000 > end) {
    return {thread.call_faults, thread.off_within(thread.call_begin, thread.call_end)};
  }
  const std::uint64_t begin = end - std::min(ticks, end);
  const auto faults = static_cast<std::uint64_t>(std::count_if(
      thread.pending.begin(), thread.pending.end(),
      [&](const PendingFault& fault) { return fault.key >= begin && fault.key <= end; }));
  return {faults, thread.off_within(begin, end)};
}

// Source pagemap. A block with a mapping of its own began with no page; of others only what becomes
// resident after the first look is known to be fresh.
void KernelLog::look_at_pages(std::uint64_t now_ms) {
  faults::Pagemap* pagemap = source_->pagemap();
  if (pagemap == nullptr) return;
  constexpr std::size_t kMostLooks = 256;  // a few hundred microseconds
  std::size_t looks = 0;
  parts_.blocks.for_each_large(kLargeBytes, [&](const resolve::Holder& holder) {
    Watched& watched = watched_[holder.start];
    if (watched.since != holder.since) watched = {holder.since, 0, 0, false};
    const std::uint64_t pages = (holder.block.size + kPageBytes - 1) / kPageBytes;
    if (watched.resident >= pages || looks >= kMostLooks) return;
    const bool young = holder.since + hz_ / 1000 * kYoungMs > last_key_;
    if (watched.seen && !young && now_ms < watched.looked_ms + kOldLookMs) return;
    ++looks;
    const auto resident = pagemap->resident_pages(holder.start, holder.start + holder.block.size);
    if (!resident) return;
    const std::uint64_t before = watched.seen                    ? watched.resident
                                 : has_own_mapping(holder.start) ? std::uint64_t{0}
                                                                 : *resident;
    watched.seen = true;
    watched.looked_ms = now_ms;
    watched.resident = *resident;
    if (*resident <= before) return;
    const std::uint64_t fresh = *resident - before;
    OpenFrame& frame = parts_.timeline.current();
    FaultRow& row = frame.rows.fault_row(
        {FaultKey::kNobody, FaultOwner::kBlock, FaultKind::kFirstTouch, holder.block.site, 0});
    row.faults += fresh;
    row.age_frames += fresh * static_cast<std::uint16_t>(
                                  static_cast<std::uint16_t>(frame.record.id) - holder.block.born);
    const auto large = large_faults_.find(holder.start);
    if (large != large_faults_.end()) large->second += fresh;
  });
}

}  // namespace hitch::frames
