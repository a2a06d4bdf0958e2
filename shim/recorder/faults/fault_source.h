// Where page faults are learnt from. A run selects one of four, each in a file of its own:
//
//   faults_perf_event   every fault with its address, thread and time; switches; samples of code
//   faults_pagemap      which pages of large blocks have become resident, some hundred times a
//   second faults_rusage       nothing but the counts the game's own presents bring faults_none not
//   even those
//
// All are for the recorder's one thread.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "recorder/faults/kernel_event.h"
#include "recorder/faults/pagemap.h"
#include "recorder/faults/tick_bridge.h"

namespace hitch::faults {

// Places among the values of option faults.
enum class Wanted : std::uint32_t { kAuto = 0, kPerf = 1, kPagemap = 2, kCount = 3, kNone = 4 };

enum class SourceKind : std::uint8_t { kNone = 0, kCount = 1, kPagemap = 2, kPerfEvent = 3 };

// What a source has seen and missed so far.
struct SourceCounts {
  std::uint64_t faults = 0;
  std::uint64_t lost = 0;  // events that found no room
};

class FaultSource {
 public:
  virtual ~FaultSource() = default;
  virtual SourceKind kind() const = 0;
  // For the trace's facts: one word or two, and whether faults inside system calls are seen.
  virtual std::string name() const = 0;
  virtual bool sees_system_calls() const { return false; }
  // Appends what has happened since the last call, in key order. Everything that happened
  // kSettleNs before the call is in it; what is younger may come with the next one.
  virtual void read(std::vector<KernelEvent>&) {}
  // A thread that has lived for a while and switches seldom: what is too dear for others, samples
  // of code and faults with I/O, is opened for it now. And that is over.
  virtual void follow(pid_t) {}
  virtual void unfollow(pid_t) {}
  // The game's page table, or null when it may not be looked at.
  virtual Pagemap* pagemap() { return nullptr; }
  virtual SourceCounts counts() const { return {}; }
};

// A record may be stamped and not yet be visible.
constexpr std::uint64_t kSettleNs = 100'000;
// One kFaultEnd comes for so many faults of the process's first thread.
constexpr std::uint64_t kFaultEndEvery = 64;

struct SourceConfig {
  pid_t pid;                   // the recorder's view
  std::vector<pid_t> threads;  // that run already
  Wanted wanted = Wanted::kAuto;
  bool sample_code = true;
};

struct OpenedSource {
  std::unique_ptr<FaultSource> source;
  // Which source is in use and how to get a better one: one sentence; empty when there is no
  // better.
  std::string note;
};

// The best source that is allowed and works. `bridge` must outlive it.
OpenedSource open_source(const SourceConfig& config, const TickBridge& bridge);

// Each null when it does not work here; `why` then says what stands in its way and what helps.
std::unique_ptr<FaultSource> open_perf_event(const SourceConfig& config, const TickBridge& bridge,
                                             std::string& why);
std::unique_ptr<FaultSource> open_pagemap(pid_t pid, std::string& why);
std::unique_ptr<FaultSource> open_rusage();
std::unique_ptr<FaultSource> open_none();

}  // namespace hitch::faults
