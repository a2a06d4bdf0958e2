#include "viewer/model/site_groups.h"

#include <gtest/gtest.h>

#include "format/buffer_records.h"
#include "support/trace_builder.h"
#include "viewer/model/frame_sites.h"
#include "viewer/model/trace_loader.h"

namespace hitch::model {
namespace {

constexpr auto kMalloc = static_cast<std::uint8_t>(format::Op::kMalloc);
constexpr auto kFree = static_cast<std::uint8_t>(format::Op::kFree);

SiteTotals totals(std::uint64_t allocs, std::uint64_t ticks) {
  SiteTotals sum;
  sum.frames = 3;
  sum.allocs = allocs;
  sum.bytes = allocs * 10;
  sum.ticks = ticks;
  sum.slowest_ticks = ticks;
  return sum;
}

// Sites 0 and 2 are two stacks of one place, 1 is another place, 3 a release.
Trace sample() {
  Trace trace;
  trace.stacks.resize(3);
  trace.stacks[2].flags = format::kStackIsTruncated;
  trace.stacks[2].addresses = {0x30};
  trace.stacks[2].modules = {ModuleId(1u)};
  trace.sites = {{0x10, {}, kMalloc, StackId(0u), 0, ""},
                 {0x20, {}, kMalloc, StackId(1u), 0, ""},
                 {0x10, {}, kMalloc, StackId(2u), 0, ""},
                 {0x10, {}, kFree, {}, 0, ""}};
  trace.site_totals = {totals(10, 100), totals(1, 5), totals(4, 300), totals(0, 7)};
  return trace;
}

SiteKey by_address(const Site& site) {
  return {std::to_string(site.address), "", site.address + 1, site.module};
}

TEST(SiteGroups, SumTheirMembersAndKeepTheHeaviestStack) {
  Trace trace = sample();
  group_sites(trace, by_address);
  ASSERT_EQ(trace.sites.size(), 3u);
  EXPECT_EQ(trace.sites[0].address, 0x11u);
  EXPECT_EQ(trace.sites[0].stack, StackId(2u));
  EXPECT_EQ(trace.sites[0].stacks, 2u);
  EXPECT_EQ(trace.site_totals[0].allocs, 14u);
  EXPECT_EQ(trace.site_totals[0].ticks, 400u);
  EXPECT_EQ(trace.site_totals[0].slowest_ticks, 300u);
  EXPECT_EQ(trace.site_totals[0].frames, 3u);
  EXPECT_EQ(trace.sites[1].stacks, 1u);
}

TEST(SiteGroups, ReleasesStayApartFromAllocations) {
  Trace trace = sample();
  group_sites(trace, [](const Site&) { return SiteKey{"all", "everything", 0, {}}; });
  ASSERT_EQ(trace.sites.size(), 2u);
  EXPECT_EQ(trace.sites[1].op, kFree);
  EXPECT_EQ(trace.sites[0].name, "everything");
  EXPECT_FALSE(trace.sites[1].stack);
  EXPECT_EQ(trace.group_of_site,
            (std::vector<SiteId>{SiteId(0u), SiteId(0u), SiteId(0u), SiteId(1u)}));
}

TEST(SiteGroups, AreNamedByAnEntryOfTheStackTheyKeep) {
  Trace trace = sample();
  trace.sites[2].address = 0x30;
  group_sites(trace, [](const Site& site) {
    return SiteKey{"all", "", site.address, site.module};
  });
  EXPECT_EQ(trace.sites[0].stack, StackId(2u));
  EXPECT_EQ(trace.sites[0].address, 0x30u);
}

TEST(SiteGroups, AllThatNamesASiteFollows) {
  Trace trace = sample();
  trace.outliers.resize(1);
  trace.outliers[0].site = SiteId(2u);
  FrameThread row;
  row.slowest_site = SiteId(3u);
  trace.frame_threads.push_back(row);
  trace.large_blocks.push_back({});
  trace.large_blocks[0].site = 1;
  group_sites(trace, by_address);
  EXPECT_EQ(trace.outliers[0].site, SiteId(0u));
  EXPECT_EQ(trace.frame_threads[0].slowest_site, SiteId(2u));
  EXPECT_EQ(trace.large_blocks[0].site, 1u);
}

TEST(SiteGroups, TellHowManyStacksAreNotWhole) {
  Trace trace = sample();
  group_sites(trace, by_address);
  EXPECT_EQ(trace.stack_quality.calls, 15u);
  EXPECT_EQ(trace.stack_quality.truncated_calls, 4u);
  EXPECT_EQ(trace.stack_quality.cut_calls, 0u);
  EXPECT_EQ(trace.stack_quality.truncated_in.at(ModuleId(1u)), 4u);
}

TEST(SiteGroups, RowsOfFramesAreReadIntoGroups) {
  support::TraceBuilder builder;
  builder.preamble(0, 3);
  support::FrameSpec spec;
  spec.sites = {{0, 5, 50, 0.1}, {1, 7, 70, 0.2}, {2, 1, 10, 0.1}};
  builder.frame(spec).finish();
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  ASSERT_TRUE(reader);
  Trace trace = load_trace(*reader);
  group_sites(trace, [](const Site& site) {
    return SiteKey{site.address == 0x401000 + 0x200 ? "one" : "other", "", site.address, {}};
  });
  const FrameSites rows =
      load_frame_sites(*reader, trace, std::vector<bool>(trace.frames.size(), true));
  const auto of = rows.of(FrameId(0u));
  ASSERT_EQ(of.size(), 2u);
  EXPECT_EQ(of[0].allocs, 12u);
  EXPECT_EQ(of[1].allocs, 1u);
}

}  // namespace
}  // namespace hitch::model
