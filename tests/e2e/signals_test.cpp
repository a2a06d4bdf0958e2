// Signal handlers inside hooks, and jumps out of them.
#include <gtest/gtest.h>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

TEST(SignalsTest, AHandlerThatInterruptsAHookIsCountedExactly) {
  const RunResult run = run_target({.command = {"signal_in_malloc"},
                                    .launch = Launch::kBare,
                                    .environment = {{"HITCH_BUFFER_MIB", "256"}},
                                    .count = Watch::kInFront});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_TRUE(run.counted);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(counter_totals(trace).allocs, run.counted->allocs);
  EXPECT_EQ(counter_totals(trace).frees, run.counted->frees);
  std::uint64_t nested = 0;
  for (const auto& [thread, counters] : trace.counters) nested += counters.nested;
  // Tests share the machine: a recorder without a turn loses some, and counts them.
  std::uint64_t lost = 0;
  for (const auto& gap : trace.gaps) lost += gap.reason == 1 ? gap.events : 0;
  EXPECT_EQ(dropped(trace), nested + lost);
  EXPECT_LE(nested, 2u * 1000u);
  EXPECT_EQ(trace.repair.malformed, 0u);
}

TEST(SignalsTest, AThreadIsNotSilencedByAJumpOutOfAHook) {
  const RunResult run = run_target(
      {.command = {"siglongjmp_out"}, .preload_beneath = {target_path("libjump_below.so")}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("jumps"), 250) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  std::uint64_t abandoned = 0;
  for (const auto& [thread, counters] : trace.counters) abandoned += counters.abandoned;
  EXPECT_EQ(abandoned, 250u);
  // 10,000 pairs besides the calls that were left.
  EXPECT_GE(frame_totals(trace).allocs, 10'000u);
  EXPECT_GE(frame_totals(trace).frees, 10'000u);
  EXPECT_EQ(trace.repair.malformed, 0u);
}

TEST(SignalsTest, AnAlternateStackIsTheSameThread) {
  const RunResult run = run_target({.command = {"altstack"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u);
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_EQ(trace.threads.size(), 1u);
  EXPECT_EQ(frame_totals(trace).allocs, 20'000u);
  std::uint64_t abandoned = 0;
  for (const auto& [thread, counters] : trace.counters) abandoned += counters.abandoned;
  EXPECT_EQ(abandoned, 0u);
}

}  // namespace
}  // namespace hitch::support
