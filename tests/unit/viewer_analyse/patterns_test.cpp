// Which hitches belong together, and what is said about when they come.
#include "viewer/analyse/patterns.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "analyse_fixture.h"
#include "viewer/model/site_groups.h"
#include "viewer/model/trace_loader.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

constexpr std::uint64_t kEveryFrame = 0;
constexpr std::uint64_t kSometimes = 1;
constexpr std::uint64_t kOnce = 2;

FrameSpec usual() {
  FrameSpec spec;
  spec.sites = {{kEveryFrame, 100, 6400, 0.1}};
  return spec;
}

// `ms` more in the allocator, by one call site.
void allocate(FrameSpec& spec, double ms, std::uint64_t site = kSometimes) {
  spec.wall_ms += ms;
  spec.alloc_ms += ms;
  spec.allocs += 500;
  spec.sites.push_back({site, 500, 32'000, ms});
}

Report session(std::size_t frames, const std::function<void(std::size_t, FrameSpec&)>& change,
               const std::function<void(support::TraceBuilder&)>& facts = nullptr) {
  support::TraceBuilder builder;
  builder.preamble();
  if (facts) facts(builder);
  for (std::size_t i = 0; i < frames; ++i) {
    FrameSpec spec = usual();
    change(i, spec);
    builder.frame(spec);
  }
  return report_of(builder.finish());
}

PatternKind kind_at(const Report& report, std::size_t frame) {
  return report.patterns.of_hitch.at(model::FrameId(frame)).kind;
}

TEST(Patterns, APeriodIsToldInFramesAndTime) {
  const Report report = session(900, [](std::size_t i, FrameSpec& spec) {
    if (i % 60 == 40) allocate(spec, 5);
  });
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  const HitchGroup& group = report.patterns.groups[0];
  EXPECT_EQ(group.kind, PatternKind::kPeriodic);
  EXPECT_EQ(group.verdict, Verdict::kAllocator);
  EXPECT_EQ(group.site, model::SiteId(kSometimes));
  EXPECT_EQ(group.frames.size(), 15u);
  EXPECT_NEAR(group.excess_ns, 75e6, 1e6);
  EXPECT_NEAR(group.median_excess_ns, 5e6, 0.1e6);
  ASSERT_TRUE(group.rhythm);
  EXPECT_EQ(group.rhythm->frames, 60);
  EXPECT_NEAR(group.rhythm->ns, 605e6, 1e6);
  EXPECT_EQ(group.rhythm->times, 15u);
  EXPECT_TRUE(group.rhythm->by_frames());
  EXPECT_EQ(kind_at(report, 40), PatternKind::kPeriodic);
}

// A timer of half a second, and frames that last 8 or 12 ms for a second each.
TEST(Patterns, TheTighterOfFramesAndTimeIsTold) {
  double now = 0;
  double due = 500;
  const Report report = session(2000, [&](std::size_t i, FrameSpec& spec) {
    spec.wall_ms = (i / 100) % 2 == 0 ? 8 : 12;
    if (now >= due) {
      allocate(spec, 6);
      due += 500;
    }
    now += spec.wall_ms;
  });
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  const HitchGroup& group = report.patterns.groups[0];
  ASSERT_TRUE(group.rhythm);
  EXPECT_FALSE(group.rhythm->by_frames());
  EXPECT_NEAR(group.rhythm->ns, 500e6, 15e6);
  EXPECT_LT(group.rhythm->ns_spread, 0.04);
  EXPECT_GT(group.rhythm->frames_spread, 0.04);
}

TEST(Patterns, OneThatDoesNotKeepTheRhythmIsIrregular) {
  const Report report = session(900, [](std::size_t i, FrameSpec& spec) {
    if (i % 60 == 40 || i == 333) allocate(spec, 5);
  });
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  EXPECT_EQ(report.patterns.groups[0].frames.size(), 16u);
  EXPECT_EQ(report.patterns.groups[0].rhythm->times, 15u);
  EXPECT_EQ(kind_at(report, 333), PatternKind::kIrregular);
  EXPECT_EQ(kind_at(report, 340), PatternKind::kPeriodic);
}

TEST(Patterns, HitchesOfDifferentCausesAreDifferentGroups) {
  const Report report = session(900, [](std::size_t i, FrameSpec& spec) {
    if (i % 60 == 40) allocate(spec, 5);
    if (i % 70 == 20) {
      spec.wall_ms += 4;  // computing
    }
  });
  ASSERT_EQ(report.patterns.groups.size(), 2u);
  EXPECT_EQ(report.patterns.groups[0].rhythm->frames, 60);
  EXPECT_EQ(report.patterns.groups[1].verdict, Verdict::kNotMemory);
  EXPECT_FALSE(report.patterns.groups[1].site);
  EXPECT_EQ(report.patterns.groups[1].rhythm->frames, 70);
}

TEST(Patterns, HitchesAtRandomAreNotPeriodic) {
  int accused = 0;
  constexpr int kSeeds = 150;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 random(static_cast<std::uint64_t>(seed));
    std::uniform_int_distribution<std::size_t> anywhere(10, 990);
    std::set<std::size_t> at;
    while (at.size() < 4 + static_cast<std::size_t>(seed) % 12) at.insert(anywhere(random));
    const Report report = session(1000, [&](std::size_t i, FrameSpec& spec) {
      if (at.count(i) != 0) allocate(spec, 5);
    });
    ASSERT_EQ(report.patterns.groups.size(), 1u);
    if (report.patterns.groups[0].rhythm) ++accused;
  }
  EXPECT_LE(accused, 1);
}

TEST(Patterns, CodeThatNeverRanBeforeIsAFirstTime) {
  const auto once = [](std::size_t i, FrameSpec& spec) {
    if (i == 150) allocate(spec, 8, kOnce);
    if (i > 200) spec.sites.push_back({kOnce, 1, 64, 0.001});
  };
  EXPECT_EQ(kind_at(session(300, once), 150), PatternKind::kFirstTime);
  const Report before = session(300, [&](std::size_t i, FrameSpec& spec) {
    if (i == 20) spec.sites.push_back({kOnce, 1, 64, 0.001});
    once(i, spec);
  });
  EXPECT_EQ(kind_at(before, 150), PatternKind::kSingle);
}

TEST(Patterns, AFirstTimeIsNotClaimedOfARecordingThatCannotKnow) {
  const auto once = [](std::size_t i, FrameSpec& spec) {
    if (i == 150) allocate(spec, 8, kOnce);
  };
  EXPECT_EQ(kind_at(session(300, once,
                            [](support::TraceBuilder& builder) {
                              builder.meta("option.start_frame", "3000");
                            }),
                    150),
            PatternKind::kSingle);
  EXPECT_EQ(kind_at(session(300,
                            [&](std::size_t i, FrameSpec& spec) {
                              once(i, spec);
                              if (i == 100) spec.flags = model::kEventsLost;
                            }),
                    150),
            PatternKind::kSingle);
}

TEST(Patterns, TheBlockWhosePagesAreFaultedExplainsAHitchOfFaults) {
  const Report report = session(300, [](std::size_t i, FrameSpec& spec) {
    if (i != 150) return;
    spec.wall_ms += 9;
    spec.minor_faults = 8600;
    spec.sites.push_back({kOnce, 1, 32 << 20, 0.05});
  });
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  EXPECT_EQ(report.patterns.groups[0].verdict, Verdict::kFaults);
  EXPECT_EQ(report.patterns.groups[0].site, model::SiteId(kOnce));
  EXPECT_EQ(kind_at(report, 150), PatternKind::kFirstTime);
}

// A function allocates at one address and releases at another, and either may take longer.
TEST(Patterns, AllCallsOfOneFunctionAreOnePlace) {
  support::TraceBuilder builder;
  builder.preamble();
  for (std::size_t i = 0; i < 900; ++i) {
    FrameSpec spec = usual();
    if (i % 60 == 40) {
      const double of_releases = (i / 60) % 2 == 0 ? 4 : 1;
      spec.wall_ms += 5;
      spec.alloc_ms += 5;
      spec.sites.push_back({kSometimes, 500, 32'000, 5 - of_releases});
      spec.sites.push_back({kOnce, 0, 0, of_releases, 0, 500});
    }
    builder.frame(spec);
  }
  auto reader = load::TraceReader::open(load::from_memory(builder.finish().bytes()));
  ASSERT_TRUE(reader);
  Report report;
  report.trace = model::load_trace(*reader);
  const std::uint64_t every_frame = report.trace.sites[kEveryFrame].address;
  model::group_sites(report.trace, [&](const model::Site& site) {
    const bool often = site.address == every_frame;
    return model::SiteKey{std::to_string(site.address), "", site.address, site.module,
                          often ? "often" : "rebuild"};
  });
  ASSERT_EQ(report.trace.sites.size(), 3u);
  fill_report(report, *reader, {}, {});
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  EXPECT_EQ(report.patterns.groups[0].rhythm->frames, 60);
}

TEST(Patterns, AnExcessThatGrowsIsRising) {
  const Report report = session(1000, [](std::size_t i, FrameSpec& spec) {
    for (const std::size_t at : {101u, 180u, 320u, 350u, 490u, 660u, 710u, 930u}) {
      if (i == at) allocate(spec, 2 + static_cast<double>(i) / 100);
    }
  });
  ASSERT_EQ(report.patterns.groups.size(), 1u);
  const HitchGroup& group = report.patterns.groups[0];
  EXPECT_EQ(group.kind, PatternKind::kRising);
  ASSERT_TRUE(group.rise);
  EXPECT_NEAR(group.rise->first_ns, 3.4e6, 0.2e6);
  EXPECT_NEAR(group.rise->last_ns, 10.2e6, 0.2e6);
}

TEST(Rise, OfRandomSizesIsNone) {
  int accused = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> size(1);
    std::vector<double> excess;
    for (std::uint64_t i = 0; i < 5 + seed % 20; ++i) excess.push_back(2 + size(random));
    if (find_rise(excess)) ++accused;
  }
  EXPECT_LT(accused, 20);
}

TEST(Patterns, LoadingAndFramesOverBudgetAsUsualHaveNone) {
  RuleChoice choice;
  choice.budget_ms = 5;
  support::TraceBuilder builder;
  builder.preamble().frames(200, usual());
  const Report report = report_of(builder.finish(), choice);
  EXPECT_FALSE(report.hitches.play.empty());
  EXPECT_TRUE(report.patterns.of_hitch.empty());
  EXPECT_TRUE(report.patterns.groups.empty());
}

}  // namespace
}  // namespace hitch::analyse
