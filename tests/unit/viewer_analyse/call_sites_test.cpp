#include "viewer/analyse/call_sites.h"

#include <gtest/gtest.h>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

Report with_sites(const std::vector<support::SiteWork>& sites, const char* time = "all") {
  support::TraceBuilder builder;
  builder.preamble(2, 6).meta("option.time", time);
  FrameSpec spec;
  spec.sites = sites;
  builder.frames(10, spec);
  return report_of(builder);
}

TEST(CallSites, AreRankedByTimeAndCountedForEachShare) {
  const Report report =
      with_sites({{0, 1, 8, 0.1}, {1, 1, 8, 0.6}, {2, 500, 8, 0.25}, {3, 1, 8, 0.05}});
  ASSERT_EQ(report.call_sites.ranked.size(), 4u);
  EXPECT_EQ(report.call_sites.ranked[0], model::SiteId(1u));
  EXPECT_EQ(report.call_sites.ranked[1], model::SiteId(2u));
  EXPECT_NEAR(report.call_sites.total_ns, 10e6, 1);
  EXPECT_EQ(report.call_sites.sites_for_share[0], 1u);
  EXPECT_EQ(report.call_sites.sites_for_share[1], 2u);
  EXPECT_EQ(report.call_sites.sites_for_share[2], 3u);
}

TEST(CallSites, AreRankedByCallsWhenNothingWasTimed) {
  const Report report = with_sites({{0, 1, 8, 0}, {2, 500, 8, 0}}, "none");
  ASSERT_EQ(report.call_sites.ranked.size(), 2u);
  EXPECT_EQ(report.call_sites.ranked[0], model::SiteId(2u));
  EXPECT_EQ(report.call_sites.sites_for_share[1], 1u);
}

TEST(CallSites, ThatWereNeverCalledAreNotCounted) {
  EXPECT_EQ(with_sites({{5, 1, 8, 0.1}}).call_sites.ranked.size(), 1u);
  EXPECT_TRUE(with_sites({}).call_sites.ranked.empty());
}

TEST(HitchSites, AreComparedWithTheFramesAround) {
  const Report report = report_of(support::sample_mixed());
  const auto& sites = report.hitch_sites.at(model::FrameId(support::kMixedAllocator));
  ASSERT_FALSE(sites.empty());
  EXPECT_EQ(sites[0].work.site, model::SiteId(2u));
  EXPECT_EQ(sites[0].work.calls(), 4080u);
  EXPECT_EQ(sites[0].usual_calls, 80);
  EXPECT_NEAR(sites[0].excess_ns, 14.6e6, 1e3);
}

TEST(HitchSites, ASiteTheFramesAroundDoNotKnowIsUsuallyZero) {
  const Report report = report_of(support::sample_mixed());
  for (const HitchSite& site : report.hitch_sites.at(model::FrameId(support::kMixedFaults))) {
    if (site.work.site == model::SiteId(0u)) {
      EXPECT_EQ(site.usual_calls, 0);
      return;
    }
  }
  FAIL() << "the site that grew the buffer is missing";
}

}  // namespace
}  // namespace hitch::analyse
