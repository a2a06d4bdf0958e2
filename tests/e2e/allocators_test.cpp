// Allocators preloaded beneath the shim bring operators of their own: calls are counted once, and
// freed blocks are the ones that were allocated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

constexpr std::uint64_t kPairs = 50'000;

class Allocators : public testing::TestWithParam<const char*> {};

TEST_P(Allocators, EveryNewAndDeleteIsSeenOnce) {
  const std::string library = std::string("/usr/lib/x86_64-linux-gnu/") + GetParam();
  if (access(library.c_str(), R_OK) != 0)
    GTEST_SKIP() << "SKIPPED: " << library << " is not installed";
  const RunResult run = run_target({.command = {"loop_new16", std::to_string(kPairs)},
                                    .launch = Launch::kBare,
                                    .preload_beneath = {library}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  const CallTotals totals = counter_totals(trace);
  EXPECT_GE(totals.allocs, kPairs);
  EXPECT_LE(totals.allocs, kPairs + 100);
  EXPECT_GE(totals.frees, kPairs);
  EXPECT_LE(totals.frees, kPairs + 100);
  EXPECT_EQ(dropped(trace), 0u);
  EXPECT_THAT(trace.fact("game.allocator"), testing::HasSubstr(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Preloaded, Allocators,
                         testing::Values("libjemalloc.so.2", "libtcmalloc_minimal.so.4",
                                         "libmimalloc.so.2.0"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name.substr(3, name.find_first_of("_.") - 3);
                         });

}  // namespace
}  // namespace hitch::support
