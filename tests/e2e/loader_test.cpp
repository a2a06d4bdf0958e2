// The dynamic loader: plugins, RUNPATH, other tools that interpose the same functions.
#include <gtest/gtest.h>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

TEST(LoaderTest, PluginsComeAndGo) {
  const RunResult run = run_target({.command = {"dlopen_dlclose"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("loads"), 50) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_TRUE(has_module(trace, "libplugin.so"));
  // Its calls are told from those of whatever is mapped at the same address later.
  bool from_plugin = false;
  for (const model::Site& site : trace.sites) {
    if (!site.module) continue;
    const model::Module& module = trace.modules[site.module->index()];
    from_plugin = from_plugin || module.path.ends_with("/libplugin.so");
    EXPECT_GE(site.address, module.start);
    EXPECT_LE(site.address, module.end);
  }
  EXPECT_TRUE(from_plugin);
}

TEST(LoaderTest, DeepbindPluginsAreRecordedByDefault) {
  const RunResult run = run_target({.command = {"dlopen_dlclose", "deepbind"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_GE(counter_totals(read_trace(run.traces[0])).allocs, 50u * 201);
}

TEST(LoaderTest, DeepbindIsKeptOnRequest) {
  const RunResult run = run_target(
      {.command = {"dlopen_dlclose", "deepbind"}, .environment = {{"HITCH_KEEP_DEEPBIND", "1"}}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  EXPECT_EQ(run.said("loads"), 50);
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_LT(counter_totals(read_trace(run.traces[0])).allocs, 50u * 200);
}

// One in front of ours asks glibc directly, so that lookups pass us by; the game must not notice
// either.
TEST(LoaderTest, AnotherDlsymMayComeBeforeOrAfterOurs) {
  const std::vector<std::string> command = {"present_looked_up", target_path("libfakegl.so.1"),
                                            "dlsym", "glXSwapBuffers"};
  const std::vector<std::string> other = {target_path("libother_dlsym.so")};
  const RunResult after = run_target({.command = command,
                                      .launch = Launch::kBare,
                                      .preload_beneath = other,
                                      .timeout = std::chrono::seconds(15)});
  ASSERT_EQ(after.exit_status, 0) << after.describe();
  ASSERT_EQ(after.traces.size(), 1u) << after.describe();
  EXPECT_EQ(frames_of_kind(read_trace(after.traces[0]), model::FrameKind::kPresent), 19u);

  const RunResult before = run_target({.command = command,
                                       .launch = Launch::kBare,
                                       .preload_before = other,
                                       .timeout = std::chrono::seconds(15)});
  ASSERT_EQ(before.exit_status, 0) << before.describe();
  EXPECT_EQ(before.said("presents"), 20) << before.describe();
  ASSERT_EQ(before.traces.size(), 1u) << before.describe();
  EXPECT_GE(counter_totals(read_trace(before.traces[0])).allocs, 20u * 10);
}

TEST(LoaderTest, SwitchesTurnTheWorkaroundsOff) {
  const std::vector<std::string> command = {"present_looked_up", target_path("libfakegl.so.1"),
                                            "dlsym", "glXSwapBuffers"};
  const RunResult run =
      run_target({.command = command, .environment = {{"HITCH_HOOK_DLSYM", "0"}}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_EQ(frames_of_kind(read_trace(run.traces[0]), model::FrameKind::kPresent), 0u);
}

}  // namespace
}  // namespace hitch::support
