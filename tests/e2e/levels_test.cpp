// Every level and every way of timing counts the same calls.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/trace_facts.h"
#include "viewer/load/byte_source.h"
#include "viewer/load/event_stream.h"

namespace hitch::support {
namespace {

struct Setting {
  const char* name;
  std::map<std::string, std::string> environment;
  bool timed;
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class Levels : public testing::TestWithParam<Setting> {};

TEST_P(Levels, CountExactly) {
  std::map<std::string, std::string> environment = GetParam().environment;
  environment.emplace("HITCH_BUFFER_MIB", "256");
  const RunResult run = run_target({.command = {"threads_exact"},
                                    .launch = Launch::kBare,
                                    .environment = environment,
                                    .count = Watch::kInFront});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals counters = counter_totals(trace);
  EXPECT_EQ(counters.allocs, run.counted->allocs);
  EXPECT_EQ(counters.frees, run.counted->frees);
  EXPECT_EQ(counters.reallocs, run.counted->reallocs);
  const CallTotals frames = frame_totals(trace);
  // Tests share the machine: what a recorder without a turn lost is in no frame, and is counted.
  if (dropped(trace) == 0) {
    EXPECT_EQ(frames.allocs, run.counted->allocs);
    EXPECT_EQ(frames.frees, run.counted->frees);
    EXPECT_EQ(frames.reallocs, run.counted->reallocs);
  }
  EXPECT_EQ(frames.allocs + frames.frees + frames.reallocs + dropped(trace),
            run.counted->allocs + run.counted->frees + run.counted->reallocs);
  std::uint64_t alloc_ticks = 0;
  for (const auto& [thread, counter] : trace.counters) alloc_ticks += counter.alloc_ticks;
  EXPECT_EQ(alloc_ticks > 0, GetParam().timed);
}

INSTANTIATE_TEST_SUITE_P(Settings, Levels,
                         testing::Values(Setting{"count", {{"HITCH_LEVEL", "count"}}, false},
                                         Setting{"time", {{"HITCH_LEVEL", "time"}}, true},
                                         Setting{"trace", {{"HITCH_LEVEL", "trace"}}, true},
                                         Setting{"time_alloc", {{"HITCH_TIME", "alloc"}}, true},
                                         Setting{"time_none", {{"HITCH_TIME", "none"}}, false}),
                         [](const auto& test) { return test.param.name; });

// A pool far too small for 10 million calls: what is lost is counted, sums stay exact, the game
// finishes.
TEST(LevelsTest, AnOverwhelmedRecorderLosesNothingFromTheSums) {
  const RunResult run = run_target({.command = {"threads_exact"},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_BUFFER_MIB", "1"}},
                                    .count = Watch::kInFront});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals counters = counter_totals(trace);
  EXPECT_EQ(counters.allocs, run.counted->allocs);
  EXPECT_EQ(counters.frees, run.counted->frees);
  EXPECT_EQ(counters.reallocs, run.counted->reallocs);
  EXPECT_EQ(recorded(trace) + dropped(trace), counters.allocs + counters.frees + counters.reallocs);
  std::uint64_t in_gaps = 0;
  for (const auto& gap : trace.gaps) in_gaps += gap.events;
  EXPECT_EQ(in_gaps, dropped(trace));
  EXPECT_EQ(trace.repair.malformed, 0u);
}

TEST(LevelsTest, KeepAllHasEveryEvent) {
  const RunResult run =
      run_target({.command = {"pairs", "300000"}, .run_flags = {"--keep", "all"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_TRUE(trace.has_events);

  auto reader = load::TraceReader::open(*load::open_file(run.traces[0]));
  ASSERT_TRUE(reader);
  CallTotals kept;
  const CallTotals counters = counter_totals(trace);
  std::uint64_t nameless = 0;
  const load::EventStreamResult result =
      load::for_each_event_block(*reader, [&](const load::EventBlock& block) {
        for (const format::KeptEvent& event : block.events) {
          kept.allocs += event.kind == format::EventKind::kAlloc ? 1 : 0;
          kept.frees += event.kind == format::EventKind::kFree ? 1 : 0;
          kept.reallocs += event.kind == format::EventKind::kRealloc ? 1 : 0;
          nameless += event.site >= trace.sites.size() || event.thread >= trace.threads.size();
        }
      });
  EXPECT_EQ(result.missing, 0u);
  EXPECT_TRUE(result.warnings.empty());
  EXPECT_EQ(nameless, 0u);
  EXPECT_EQ(result.events, recorded(trace));
  EXPECT_EQ(dropped(trace), 0u);
  EXPECT_EQ(kept.allocs, counters.allocs);
  EXPECT_EQ(kept.frees, counters.frees);
  EXPECT_EQ(kept.reallocs, counters.reallocs);
}

// Eight threads at full rate leave the recorder an eighth of the core they share with it.
TEST(LevelsTest, OnOneCoreNothingIsLostFromTheSums) {
  const RunResult run = run_target({.command = {"threads_exact"},
                                    .environment = {{"HITCH_BUFFER_MIB", "4"}},
                                    .count = Watch::kBeneath,
                                    .one_core = true});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("ok"), 1) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals counters = counter_totals(trace);
  EXPECT_EQ(counters.allocs + trace.own_calls.allocs, run.counted->allocs);
  EXPECT_EQ(counters.frees + trace.own_calls.frees, run.counted->frees);
  EXPECT_EQ(counters.reallocs, run.counted->reallocs);
  EXPECT_GT(dropped(trace), 0u);
  EXPECT_EQ(recorded(trace) + dropped(trace), counters.allocs + counters.frees + counters.reallocs);
  std::uint64_t in_gaps = 0;
  for (const auto& gap : trace.gaps) in_gaps += gap.events;
  EXPECT_EQ(in_gaps, dropped(trace));
  const CallTotals frames = frame_totals(trace);
  EXPECT_EQ(frames.allocs + frames.frees + frames.reallocs, recorded(trace));
}

}  // namespace
}  // namespace hitch::support
