// Page faults by whose memory was touched, over the run and in one frame, and what they cost.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "viewer/analyse/balance.h"
#include "viewer/model/trace.h"

namespace hitch::analyse {

// Faults with one owner: a call site's blocks, a file, a stack, ...
struct FaultGroup {
  format::FaultOwner owner = format::FaultOwner::kUnknown;
  std::uint64_t id = 0;  // Site, Module or Text number, as the owner says
  std::uint64_t faults = 0;
  std::uint64_t call_faults = 0;    // inside allocator calls
  std::uint64_t waited_faults = 0;  // while the presenting thread was off the CPU
  std::array<std::uint64_t, format::kFaultKinds> kinds{};
  double bytes = 0;  // that became resident
  double est_ns = 0;
  double mean_age_frames = 0;           // between allocation and fault, of blocks
  std::optional<model::PlaceId> place;  // the code that touched most of it
  std::uint64_t place_faults = 0;
  std::optional<model::ThreadId> thread;  // the one that touched most of it
  std::uint64_t threads = 0;

  // The kind most of them are.
  format::FaultKind kind() const;
};

using FaultFilter = std::function<bool(const model::FrameFault&)>;

// What a fault of each owner and kind takes in this run, in ns.
class FaultPrices {
 public:
  FaultPrices(const model::Trace& trace, const Measures& measures);
  double ns(format::FaultOwner owner, format::FaultKind kind) const;

 private:
  std::array<double, format::kFaultPriceClasses> ns_{};
};

// Dearest first.
std::vector<FaultGroup> fault_groups(const model::Trace& trace, const Measures& measures,
                                     std::span<const model::FrameFault> rows,
                                     const FaultFilter& wanted);

// Of one frame. `own`: the presenting thread's (and those of which it is not known whose they are);
// `others`: of all other threads.
struct FrameFaults {
  std::vector<FaultGroup> own;
  std::vector<FaultGroup> others;
  std::uint64_t seen = 0;    // of the presenting thread, one by one
  std::uint64_t unseen = 0;  // counted by the kernel beyond those: inside system calls
};
FrameFaults frame_faults_of(const model::Trace& trace, const Measures& measures,
                            model::FrameId frame);

// Large buffers that are given back to the kernel at each release and faulted in again at each
// allocation.
struct Churn {
  model::SiteId site;
  std::uint64_t allocs = 0;
  std::uint64_t unmaps = 0;  // releases that gave a mapping back
  std::uint64_t faults = 0;
  double bytes = 0;
  double est_ns = 0;  // that reuse would save
};
std::vector<Churn> churn_of(const model::Trace& trace, const Measures& measures);

// The whole run.
struct FaultTotals {
  std::uint64_t seen = 0;
  std::uint64_t own = 0;              // the shim's
  std::uint64_t own_at_start = 0;     // of those
  std::uint64_t most_own_later = 0;   // of any one thread, after its first record
  std::uint64_t in_system_calls = 0;  // seen there
  std::uint64_t in_calls = 0;         // inside allocator calls
  std::uint64_t counted = 0;          // of the presenting threads, by getrusage, in whole frames
  std::uint64_t seen_in_those = 0;    // of the same threads and frames
  std::uint64_t lost = 0;
};
FaultTotals fault_totals_of(const model::Trace& trace);

// Why one allocator call was slow.
enum class OutlierCause : std::uint8_t {
  kUnknown,
  kFaults,
  kMapping,     // mmap, munmap or a heap that grows
  kTrimming,    // a release that merges free memory or gives it back
  kContention,  // off the CPU of its own accord: a lock
  kPreempted,
};
OutlierCause outlier_cause(const model::Trace& trace, const model::Outlier& outlier,
                           const Measures& measures);

}  // namespace hitch::analyse
