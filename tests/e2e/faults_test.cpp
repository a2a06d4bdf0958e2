// Page faults of a program that touches known memory in known frames: whose they are, when, and
// what is left of that without perf events.
#include "viewer/analyse/faults.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

using format::FaultKind;
using format::FaultOwner;

// Frame k of the program is the k-th after its first mark, which ends start-up.
model::FrameId picture(const model::Trace& trace, std::uint64_t number) {
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    if (trace.frames[i].kind == model::FrameKind::kPresent && trace.frames[i].picture + 1 == number)
      return model::FrameId(i);
  }
  ADD_FAILURE() << "no frame " << number;
  return {};
}

struct Sum {
  std::uint64_t faults = 0;
  std::uint64_t in_calls = 0;
  std::map<FaultKind, std::uint64_t> kinds;
  std::set<std::uint64_t> sites;
};

// Faults in memory of call sites, the allocator's own words for them included.
Sum of_blocks(const model::Trace& trace, model::FrameId frame, std::uint64_t least_faults = 1) {
  Sum sum;
  for (const model::FrameFault& row : trace.faults_of(frame)) {
    if (row.owner != FaultOwner::kBlock && row.owner != FaultOwner::kAllocator) continue;
    sum.faults += row.faults;
    sum.in_calls += row.call_faults;
    sum.kinds[row.kind] += row.faults;
    if (row.faults >= least_faults) sum.sites.insert(row.id);
  }
  return sum;
}

std::uint64_t presenting_faults(const model::Trace& trace, model::FrameId frame) {
  for (const model::FrameThread& row : trace.threads_of(frame)) {
    if (row.thread == *trace.frames[frame.index()].thread) return row.faults;
  }
  return 0;
}

bool has_perf_events(const model::Trace& trace) {
  return trace.fact("faults.source") == "perf_event";
}

TEST(FaultsTest, EveryFaultHasItsCallSiteAndItsFrame) {
  const RunResult run = run_target({.command = {"fresh"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  if (!has_perf_events(trace)) GTEST_SKIP() << trace.fact("faults.note");
  std::set<std::uint64_t> sites;
  for (std::uint64_t k = 2; k <= 9; ++k) {
    const model::FrameId frame = picture(trace, k);
    const std::uint64_t pages = std::uint64_t{1} << (2 * (k - 2));
    const Sum sum = of_blocks(trace, frame, pages / 2 + 1);
    // A buffer that does not begin with its page meets one more; the smallest comes from pages the
    // heap has touched already.
    EXPECT_LE(sum.faults, pages + 3) << "frame " << k;
    if (pages >= 64) {
      EXPECT_GE(sum.faults, pages) << "frame " << k;
      EXPECT_EQ(sum.sites.size(), 1u) << "frame " << k;
      sites.insert(sum.sites.begin(), sum.sites.end());
    }
    // What was seen one by one, and in system calls where that is allowed, is what was counted.
    const model::Frame& record = trace.frames[frame.index()];
    EXPECT_EQ(presenting_faults(trace, frame), record.minor_faults) << "frame " << k;
    EXPECT_GE(static_cast<std::int64_t>(record.minor_faults),
              run.said("f" + std::to_string(k)).value_or(0))
        << "frame " << k;
    EXPECT_LE(static_cast<std::int64_t>(record.minor_faults),
              run.said("f" + std::to_string(k)).value_or(0) + 2)
        << "frame " << k;
  }
  EXPECT_EQ(sites.size(), 1u);  // touch_after, from main
}

TEST(FaultsTest, KindsAreToldApart) {
  const RunResult run = run_target({.command = {"fresh"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  const model::Trace trace = read_trace(run.traces.at(0));
  if (!has_perf_events(trace)) GTEST_SKIP() << trace.fact("faults.note");
  // realloc copies into fresh memory, inside the call; the first MiB was touched after its own.
  const Sum inside = of_blocks(trace, picture(trace, 12));
  EXPECT_GE(inside.in_calls, 256u);
  EXPECT_LE(inside.in_calls, 270u);
  // The kernel clears what read(2) fills: seen with the privilege to see it, else only counted.
  const model::FrameId read_frame = picture(trace, 14);
  const std::uint64_t seen = presenting_faults(trace, read_frame);
  const std::uint64_t counted = trace.frames[read_frame.index()].minor_faults;
  EXPECT_GE(counted, 768u);
  if (trace.fact("faults.in_system_calls") == "1") {
    EXPECT_EQ(seen, counted);
  } else {
    EXPECT_GE(counted - seen, 767u);
  }
  // From the second time on the buffer's pages are old acquaintances.
  for (std::uint64_t k = 18; k <= 25; ++k) {
    const Sum churn = of_blocks(trace, picture(trace, k));
    EXPECT_GE(churn.kinds.at(FaultKind::kRecycled), 512u) << "frame " << k;
  }
  const Sum copied = of_blocks(trace, picture(trace, 27));
  ASSERT_TRUE(copied.kinds.contains(FaultKind::kCopyOnWrite));
  EXPECT_GE(copied.kinds.at(FaultKind::kCopyOnWrite), 256u);

  const auto churn = analyse::churn_of(trace, analyse::measures_of(trace));
  ASSERT_EQ(churn.size(), 1u);
  EXPECT_EQ(churn[0].unmaps, 9u);  // the tenth was not mapped again
  EXPECT_GE(churn[0].faults, 9u * 512);
  EXPECT_LE(churn[0].faults, 9u * 514);
}

TEST(FaultsTest, TheShimsOwnFaultsAreFewAndApart) {
  const RunResult run = run_target({.command = {"threads_exact"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  const model::Trace trace = read_trace(run.traces.at(0));
  if (!has_perf_events(trace)) GTEST_SKIP() << trace.fact("faults.note");
  const analyse::FaultTotals totals = analyse::fault_totals_of(trace);
  EXPECT_GT(totals.seen, 0u);
  EXPECT_EQ(totals.lost, 0u);
  EXPECT_LE(totals.most_own_later, 2u);
}

TEST(FaultsTest, WithoutPerfEventsLargeBlocksAreStillNamed) {
  const RunResult run = run_target({.command = {"no_perf", target_path("fresh")},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_TARGET", "fresh"}},
                                    .target = false});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(trace.fact("faults.source"), "pagemap");
  EXPECT_NE(trace.fact("faults.note").find("perf_event_open is refused"), std::string::npos);
  // 64 MiB, touched over many looks; a look may come after the frame's end.
  constexpr std::uint64_t kPages = 16384;
  const model::FrameId frame = picture(trace, 9);
  std::uint64_t faults = 0;
  std::set<std::uint64_t> sites;
  for (std::size_t i = frame.index(); i <= frame.index() + 1; ++i) {
    const Sum sum = of_blocks(trace, model::FrameId(i), kPages / 4);
    faults += sum.faults;
    sites.insert(sum.sites.begin(), sum.sites.end());
  }
  EXPECT_GE(faults, kPages * 9 / 10);
  EXPECT_LE(faults, kPages + 1);
  EXPECT_EQ(sites.size(), 1u);
}

TEST(FaultsTest, CountAloneIsCountAlone) {
  const RunResult run = run_target({.command = {"fresh"}, .run_flags = {"--faults", "count"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  const model::Trace trace = read_trace(run.traces.at(0));
  EXPECT_EQ(trace.fact("faults.source"), "getrusage");
  EXPECT_TRUE(trace.faults.empty());
  EXPECT_GE(trace.frames[picture(trace, 9).index()].minor_faults, 16384u);
}

// setcap is what the report advises where perf events are refused. A program with capabilities
// starts in libc's secure mode, without LD_PRELOAD: the game must get it all the same.
TEST(FaultsTest, ARecorderWithACapabilityLeavesTheGameItsEnvironment) {
  if (geteuid() != 0) GTEST_SKIP() << "setcap needs root";
  std::string folder = testing::TempDir() + "hitch-capability-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string bin = command_path().substr(0, command_path().rfind('/'));
  const std::string prepare = "cp -r " + bin + " " + folder + "/bin && cp " + target_path("fresh") +
                              " " + folder + "/bin && chmod -R a+rwX " + folder +
                              " && setcap cap_perfmon+ep " + folder +
                              "/bin/hitchtrace-record 2>/dev/null";
  const std::string play = "cd " + folder +
                           " && LD_LIBRARY_PATH=/nowhere setpriv --reuid=65534 "
                           "--regid=65534 --clear-groups bin/hitchtrace run -o cap.hitch -- "
                           "bin/fresh >/dev/null 2>&1";
  if (std::system(prepare.c_str()) == 0) {
    EXPECT_EQ(std::system(play.c_str()), 0);
    const model::Trace trace = read_trace(folder + "/cap.hitch");
    EXPECT_GT(counter_totals(trace).allocs, 0u);
    if (has_perf_events(trace)) {
      EXPECT_EQ(trace.fact("faults.in_system_calls"), "1");
    }
    std::filesystem::remove_all(folder);
  } else {
    std::filesystem::remove_all(folder);
    GTEST_SKIP() << "setcap is not installed, or the file system keeps no capabilities";
  }
}

}  // namespace
}  // namespace hitch::support
