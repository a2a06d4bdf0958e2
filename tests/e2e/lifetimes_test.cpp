// What the report says about blocks, of programs whose blocks are known.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/trace_facts.h"

namespace hitch::support {
namespace {

using Json = nlohmann::json;

Json report_of(const std::string& trace) {
  const RunResult run =
      run_target({.command = {command_path(), "report", "--json", "--top", "0", trace},
                  .launch = Launch::kPlain});
  EXPECT_EQ(run.exit_status, 0) << run.describe();
  return Json::parse(run.out, nullptr, false);
}

// The sites of a function, added up over `key`.
double sum(const Json& report, const std::string& function, const std::string& key) {
  double total = 0;
  for (const Json& site : report["lifetimes"]["sites"]) {
    if (site["function"] == function) total += site[key].get<double>();
  }
  return total;
}

void expect_the_slowing_site_with_its_ratio(const RunResult& run, const Json& report) {
  const double truth =
      static_cast<double>(*run.said("last")) / static_cast<double>(*run.said("first"));
  EXPECT_GT(truth, 1.2) << "glibc's allocator did not age as planted: " << run.describe();
  bool found = false;
  for (const Json& site : report["lifetimes"]["sites"]) {
    if (site["function"] != "slowing_site") continue;
    ASSERT_FALSE(site["drift"].is_null());
    found = true;
    const Json& drift = site["drift"];
    const double ratio = drift["last_mean_ns"].get<double>() / drift["first_mean_ns"].get<double>();
    EXPECT_NEAR(ratio, truth, truth * 0.2);
    EXPECT_GT(drift["ratio"].get<double>(), 1.2);
  }
  EXPECT_TRUE(found);
}

void expect_the_cycle_of_shared_pointers_as_a_leak(const Json& report) {
  const double live = sum(report, "leaking_cycle", "live");
  EXPECT_GT(live, 1000);
  EXPECT_EQ(live, sum(report, "leaking_cycle", "born"));
  EXPECT_GT(sum(report, "leaking_cycle", "growth_bytes_per_minute"), 0);
  bool has_stack = false;
  for (const Json& site : report["lifetimes"]["sites"]) {
    if (site["function"] == "leaking_cycle")
      for (const Json& entry : site["stack"]) has_stack |= entry["function"] == "main";
  }
  EXPECT_TRUE(has_stack);
}

void expect_what_dies_in_its_frame_as_temporary(const Json& report) {
  const double born = sum(report, "steady_site", "born");
  EXPECT_GT(born, 1000);
  EXPECT_EQ(sum(report, "steady_site", "temporary"), born);
  EXPECT_EQ(sum(report, "steady_site", "died_last_in_first_out"), born);
  EXPECT_EQ(sum(report, "leaking_cycle", "temporary"), 0);
}

void expect_holes_seen_from_outside(const Json& report) {
  const Json& memory = report["memory"];
  ASSERT_FALSE(memory.is_null());
  EXPECT_GT(memory["samples"].get<int>(), 50);
  ASSERT_FALSE(memory["heap"].is_null());
  // 800 holes of 66 to 91 KiB between blocks of 40 bytes.
  EXPECT_GT(memory["heap"]["largest_gap_bytes"].get<double>(), 60'000);
  EXPECT_GT(memory["heap"]["mapped_bytes"].get<double>(), 50e6);
  EXPECT_LT(memory["heap"]["filled"].get<double>(), 0.2);
}

TEST(Lifetimes, OfAProgramThatAges) {
  const RunResult run = run_target({.command = {"ageing", "10"}, .run_flags = {"--keep", "all"}});
  ASSERT_EQ(run.exit_status, 0) << run.describe();
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  const Json report = report_of(run.traces[0]);
  ASSERT_TRUE(report["lifetimes"]["complete"].get<bool>());
  expect_the_slowing_site_with_its_ratio(run, report);
  expect_the_cycle_of_shared_pointers_as_a_leak(report);
  expect_what_dies_in_its_frame_as_temporary(report);
  expect_holes_seen_from_outside(report);
}

TEST(Lifetimes, WithoutEventsNothingIsSaidAboutThem) {
  const RunResult run = run_target({.command = {"pairs", "1000"}});
  ASSERT_EQ(run.traces.size(), 1u) << run.describe();
  EXPECT_TRUE(report_of(run.traces[0])["lifetimes"].is_null());
}

}  // namespace
}  // namespace hitch::support
