// What the kernel told about one thread, until the thread's own records say what it was doing then.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "format/fault_kinds.h"

namespace hitch::frames {

// A fault is inside an allocator call or after it: only the thread's next record tells.
struct PendingFault {
  std::uint64_t key;
  std::uint64_t address;
  std::uint64_t ip;     // 0: in the kernel, or not known
  std::uint64_t id;     // of the owner
  std::uint64_t block;  // where the owner begins when it is a block, else 0
  std::uint64_t age_frames;
  format::FaultOwner owner;
  format::FaultKind kind;
  bool waited;  // the presenting thread was off the CPU
  bool in_system_call;
};

struct OffInterval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool preempted = false;
};

// Sums of a stretch of time that lies in one thread.
struct OffTime {
  std::uint64_t ticks = 0;
  std::uint64_t preempted_ticks = 0;
  bool voluntary = false;  // left the CPU of its own accord at least once
};

struct ThreadKernel {
  std::uint32_t number = 0;
  std::uint32_t tid = 0;    // the recorder's view
  std::uint64_t since = 0;  // key at which it was first heard of
  bool followed = false;    // by the source, see FaultSource::follow
  bool looked_at = false;   // it was there when threads to follow were chosen
  bool early = false;       // it has made no allocator call yet
  bool drained = false;     // its records are over; what the kernel tells may not be yet
  bool dirty = false;       // something waits for the thread's next record
  bool off = false;
  OffInterval open;               // the running one while `off`; its end is not known
  std::uint64_t off_counted = 0;  // until then it is in its frame's row already
  std::array<OffInterval, 16> recent{};
  unsigned next_recent = 0;
  std::uint64_t switches = 0;  // since it was last decided whether to follow it
  std::uint64_t last_off_end = 0;
  std::vector<OffInterval> in_frame;  // of the presenting thread, since its last present
  std::vector<PendingFault> pending;
  std::uint64_t fault_key = 0;  // the last fault, whose end may be told
  std::uint64_t fault_page = 0;
  format::FaultPriceClass fault_class = format::FaultPriceClass::kAnonymous;
  // The last call that was settled, for an outlier record about it.
  std::uint64_t call_begin = 0;
  std::uint64_t call_end = 0;
  std::uint64_t call_faults = 0;
  std::uint64_t faults = 0;
  std::uint64_t own_faults = 0;
  std::uint64_t own_at_start = 0;

  void note_off(const OffInterval& interval) {
    recent[next_recent++ % recent.size()] = interval;
    last_off_end = interval.end;
    if (in_frame.size() < kMostInFrame) in_frame.push_back(interval);
    dirty = true;
  }
  // Off the CPU within [begin, end], from the latest intervals.
  OffTime off_within(std::uint64_t begin, std::uint64_t end) const {
    OffTime sum;
    for (const OffInterval& interval : recent) {
      const std::uint64_t from = interval.begin > begin ? interval.begin : begin;
      const std::uint64_t to = interval.end < end ? interval.end : end;
      if (to <= from) continue;
      sum.ticks += to - from;
      if (interval.preempted) {
        sum.preempted_ticks += to - from;
      } else {
        sum.voluntary = true;
      }
    }
    return sum;
  }

  static constexpr std::size_t kMostInFrame = 4096;
};

}  // namespace hitch::frames
