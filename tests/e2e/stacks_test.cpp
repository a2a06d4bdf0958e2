// Every captured callstack equals libunwind's, entry by entry, on stacks of every shape and from
// every kind of compiled code.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

class Stacks : public testing::Test {
 protected:
  void SetUp() override {
    void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) GTEST_SKIP() << "libunwind8 is not installed: nothing to compare with";
    dlclose(library);
  }

  static model::Trace verified(std::vector<std::string> command,
                               std::map<std::string, std::string> environment = {}) {
    environment["HITCH_VERIFY_STACKS"] = "1";
    const RunResult run = run_target(
        {.command = std::move(command), .launch = Launch::kBare, .environment = environment});
    EXPECT_EQ(run.exit_status, 0) << run.describe();
    if (run.traces.size() != 1) {
      ADD_FAILURE() << run.describe();
      return {};
    }
    model::Trace trace = read_trace(run.traces[0]);
    EXPECT_EQ(trace.stack_checks.different, 0u) << run.err;
    return trace;
  }
  static std::size_t deepest(const model::Trace& trace) {
    std::size_t most = 0;
    for (const model::Stack& stack : trace.stacks) most = std::max(most, stack.addresses.size());
    return most;
  }
  static std::size_t stacks_with(const model::Trace& trace, std::uint64_t flag) {
    return static_cast<std::size_t>(
        std::count_if(trace.stacks.begin(), trace.stacks.end(),
                      [flag](const model::Stack& stack) { return (stack.flags & flag) != 0; }));
  }
};

class CompiledStacks : public Stacks, public testing::WithParamInterface<const char*> {};

TEST_P(CompiledStacks, OfEveryShapeEqualLibunwinds) {
  const std::string program = target_path(GetParam());
  if (access(program.c_str(), X_OK) != 0) GTEST_SKIP() << "built without clang++";
  const model::Trace trace = verified({program});
  EXPECT_GT(trace.stack_checks.checked, 40'000u);
  EXPECT_EQ(trace.stack_checks.truncated, 0u);
  EXPECT_EQ(dropped(trace), 0u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, CompiledStacks,
                         testing::Values("stacks_gcc_O0", "stacks_gcc_O2", "stacks_gcc_O2_fp",
                                         "stacks_gcc_O3_lto", "stacks_gcc_O2_cet",
                                         "stacks_clang_O0", "stacks_clang_O2", "stacks_clang_O2_fp",
                                         "stacks_clang_O3_lto", "stacks_clang_O2_cet"),
                         [](const auto& test) { return std::string(test.param + 7); });

class ProgramStacks : public Stacks,
                      public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(ProgramStacks, EqualLibunwinds) {
  const model::Trace trace = verified(GetParam());
  EXPECT_GT(trace.stack_checks.checked, 0u);
  EXPECT_LE(trace.stack_checks.truncated * 100, trace.stack_checks.checked);
}

INSTANTIATE_TEST_SUITE_P(Targets, ProgramStacks,
                         testing::Values(std::vector<std::string>{"exceptions"},
                                         std::vector<std::string>{"new_handler"},
                                         std::vector<std::string>{"dlopen_dlclose"},
                                         std::vector<std::string>{"thread_exit_tls"},
                                         std::vector<std::string>{"altstack"},
                                         std::vector<std::string>{"early_boot"},
                                         std::vector<std::string>{"own_new"}),
                         [](const auto& test) { return test.param[0]; });

TEST_F(Stacks, OfAnInterpreterEqualLibunwinds) {
  const std::string python = "/usr/bin/python3";
  if (access(python.c_str(), X_OK) != 0) GTEST_SKIP() << "python3 is not installed";
  const RunResult run =
      run_target({.command = {python, "-c",
                              "import json, re\n"
                              "d = json.dumps([dict(a=i, b=str(i)) for i in range(3000)])\n"
                              "re.findall('a+', d), sorted(json.loads(d), key=lambda e: e['b'])"},
                  .launch = Launch::kBare,
                  .environment = {{"HITCH_VERIFY_STACKS", "1"}, {"HITCH_TARGET", "python3*"}},
                  .target = false});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_GT(trace.stack_checks.checked, 1000u);
  EXPECT_EQ(trace.stack_checks.different, 0u) << run.err;
  EXPECT_LE(trace.stack_checks.truncated * 100, trace.stack_checks.checked);
}

TEST_F(Stacks, ThroughCodeWithoutUnwindInformationAreMarkedTruncated) {
  const model::Trace trace = verified({"stacks_gcc_O2", "jit"});
  EXPECT_GE(trace.stack_checks.truncated, 300u);
  EXPECT_GE(stacks_with(trace, format::kStackIsTruncated), 1u);
}

TEST_F(Stacks, DeeperThanAskedForAreMarkedCut) {
  const model::Trace trace =
      verified({"stacks_gcc_O0", "recursion"}, {{"HITCH_STACK_DEPTH", "16"}});
  EXPECT_EQ(deepest(trace), 16u);
  EXPECT_GE(stacks_with(trace, format::kStackIsCut), 1u);
  EXPECT_EQ(stacks_with(trace, format::kStackIsTruncated), 0u);
}

TEST_F(Stacks, AreNeverDeeperThanThereIsRoomFor) {
  const model::Trace trace =
      verified({"stacks_gcc_O0", "recursion"}, {{"HITCH_STACK_DEPTH", "100000"}});
  EXPECT_EQ(deepest(trace), 119u);
  EXPECT_GE(stacks_with(trace, format::kStackIsCut), 1u);
}

TEST_F(Stacks, AreLeftOutOnRequest) {
  const RunResult run =
      run_target({.command = {"stacks_gcc_O2", "tree"}, .run_flags = {"--stack-depth", "0"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const model::Trace trace = read_trace(run.traces[0]);
  EXPECT_TRUE(trace.stacks.empty());
  EXPECT_FALSE(trace.sites.empty());
}

}  // namespace
}  // namespace hitch::support
