// What a hitch is blamed on, and what is not accused.
#include "viewer/analyse/causes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

using support::FrameSpec;

const Hitch* hitch_at(const Report& report, std::uint64_t frame) {
  for (const auto* list : {&report.hitches.play, &report.hitches.hidden}) {
    for (const Hitch& hitch : *list) {
      if (report.trace.frames[hitch.frame.index()].number == frame) return &hitch;
    }
  }
  return nullptr;
}

const Cause* cause_of(const Hitch& hitch, Part part) {
  const auto found = std::find_if(hitch.causes.begin(), hitch.causes.end(),
                                  [part](const Cause& cause) { return cause.part == part; });
  return found == hitch.causes.end() ? nullptr : &*found;
}

TEST(Causes, EachPlantedHitchIsNamedForWhatItIs) {
  const Report report = report_of(support::sample_mixed());
  const std::pair<std::uint64_t, Verdict> truth[] = {
      {support::kMixedAllocator, Verdict::kAllocator},
      {support::kMixedFaults, Verdict::kFaults},
      {support::kMixedWorker, Verdict::kWaitingOnMemory},
      {support::kMixedNotMemory, Verdict::kNotMemory},
      {support::kMixedLock, Verdict::kAllocator},
      {support::kMixedWaiting, Verdict::kWaiting},
      {support::kMixedGpu, Verdict::kPresentBlocked},
  };
  for (const auto& [frame, verdict] : truth) {
    const Hitch* hitch = hitch_at(report, frame);
    ASSERT_NE(hitch, nullptr) << frame;
    EXPECT_STREQ(verdict_key(hitch->verdict), verdict_key(verdict)) << frame;
  }
}

TEST(Causes, NothingElseIsAccused) {
  const Report report = report_of(support::sample_mixed());
  const Hitch* computing = hitch_at(report, support::kMixedNotMemory);
  ASSERT_NE(computing, nullptr);
  ASSERT_EQ(computing->causes.size(), 1u);
  EXPECT_EQ(computing->causes[0].part, Part::kRest);
  const Hitch* faulting = hitch_at(report, support::kMixedFaults);
  EXPECT_EQ(cause_of(*faulting, Part::kAllocator), nullptr);
  EXPECT_EQ(cause_of(*faulting, Part::kWaiting), nullptr);
}

TEST(Causes, HalfIsTheCauseAFifthIsPartlyLessIsNotNamed) {
  const auto with = [](double allocator, double waiting) {
    return one_changed_frame({}, [=](FrameSpec& spec) {
      spec.wall_ms += 10;
      spec.alloc_ms += allocator;
      spec.waiting_ms = waiting;
    });
  };
  const Report report = with(5.5, 3);
  const Hitch& hitch = report.hitches.play.at(0);
  ASSERT_NE(cause_of(hitch, Part::kAllocator), nullptr);
  EXPECT_FALSE(cause_of(hitch, Part::kAllocator)->partly());
  EXPECT_NEAR(cause_of(hitch, Part::kAllocator)->share, 0.55, 0.001);
  ASSERT_NE(cause_of(hitch, Part::kWaiting), nullptr);
  EXPECT_TRUE(cause_of(hitch, Part::kWaiting)->partly());
  EXPECT_EQ(cause_of(hitch, Part::kRest), nullptr);
  const Report spread = with(3.4, 3.3);
  EXPECT_EQ(spread.hitches.play.at(0).verdict, Verdict::kMixed);
  EXPECT_EQ(spread.hitches.play.at(0).causes.size(), 3u);
}

TEST(Causes, TheExcessesOfThePartsSumToTheExcess) {
  const Report report = report_of(support::sample_mixed());
  for (const Hitch& hitch : report.hitches.play) {
    double parts = 0;
    double sum = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      parts += hitch.balance.parts[part];
      sum += hitch.excess[part];
    }
    EXPECT_NEAR(parts, hitch.balance.wall, 1);
    EXPECT_NEAR(sum, hitch.wall_excess_ns, 0.5e6) << "medians of parts need not sum exactly";
  }
}

TEST(Causes, TimeBlockedInsideTheAllocatorIsNotCountedTwice) {
  const Report report = report_of(support::sample_mixed());
  const Hitch* hitch = hitch_at(report, support::kMixedLock);
  ASSERT_NE(hitch, nullptr);
  EXPECT_GT(hitch->balance.blocked_in_allocator, 5e6);
  EXPECT_EQ(cause_of(*hitch, Part::kWaiting), nullptr);
}

TEST(Causes, FaultsInsideAllocatorCallsAreNotCountedTwice) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms += 6;
    spec.alloc_ms += 6;  // a large calloc that touches its pages itself
    spec.minor_faults = 4000;
  });
  const Hitch& hitch = report.hitches.play.at(0);
  EXPECT_EQ(hitch.verdict, Verdict::kAllocator);
  EXPECT_EQ(cause_of(hitch, Part::kFaults), nullptr);
}

TEST(Causes, WaitingForAWorkerThatFaultsNamesItsFaults) {
  const Report report = report_of(support::sample_mixed());
  const Hitch* hitch = hitch_at(report, support::kMixedWorker);
  ASSERT_NE(hitch, nullptr);
  EXPECT_EQ(hitch->others.faults, 7400u);
  EXPECT_EQ(hitch->usual_others_faults, 0);
  EXPECT_NEAR(hitch->others_excess_ns(report.measures), 7.4e6 + 0.16e6, 0.01e6);
  ASSERT_FALSE(hitch->busiest_others.empty());
  EXPECT_EQ(hitch->busiest_others[0].thread, model::ThreadId(2u));
}

TEST(Causes, WaitingWithFileReadsIsWaitingOnFiles) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms += 8;
    spec.waiting_ms = 8;
    spec.major_faults = 9;
  });
  EXPECT_EQ(report.hitches.play.at(0).verdict, Verdict::kWaitingOnFiles);
}

TEST(Causes, BeingPreemptedIsNotWaiting) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms += 8;
    spec.waiting_ms = 8;
    spec.voluntary = 0;
    spec.involuntary = 4;
  });
  EXPECT_EQ(report.hitches.play.at(0).verdict, Verdict::kPreempted);
}

TEST(Causes, BeingPreemptedAsOftenAsUsualExplainsNothing) {
  FrameSpec usual;
  usual.voluntary = 0;
  usual.involuntary = 4;
  const Report report = one_changed_frame(usual, [](FrameSpec& spec) {
    spec.wall_ms += 8;
    spec.waiting_ms = 8;
    spec.voluntary = 1;
    spec.involuntary = 5;
  });
  EXPECT_EQ(report.hitches.play.at(0).verdict, Verdict::kWaiting);
}

// 40,000 calls more: 4 ms in the allocator, and 2 ms more that only recording them took.
TEST(Causes, TheToolsOwnTimeIsNoCauseAndInNoShare) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms += 6;
    spec.alloc_ms += 4;
    spec.allocs += 40'000;
    spec.own_ms += 2;
  });
  const Hitch& hitch = report.hitches.play.at(0);
  EXPECT_EQ(hitch.verdict, Verdict::kAllocator);
  EXPECT_EQ(cause_of(hitch, Part::kRest), nullptr);
  ASSERT_NE(cause_of(hitch, Part::kAllocator), nullptr);
  EXPECT_NEAR(cause_of(hitch, Part::kAllocator)->share, 1, 0.01);
}

TEST(Causes, ABusyPresentIsTheDriverABlockedOneTheGpu) {
  const auto present = [](double cpu) {
    return one_changed_frame({}, [cpu](FrameSpec& spec) {
      spec.wall_ms += 8;
      spec.present_ms += 8;
      spec.present_cpu_ms += cpu;
    });
  };
  EXPECT_EQ(present(7.9).hitches.play.at(0).verdict, Verdict::kPresentBusy);
  EXPECT_EQ(present(0).hitches.play.at(0).verdict, Verdict::kPresentBlocked);
}

TEST(Causes, ALimiterThatOversleepsIsNamed) {
  FrameSpec usual;
  usual.wall_ms = 16.7;
  usual.sleep_ms = 6;
  const Report report = one_changed_frame(usual, [](FrameSpec& spec) {
    spec.wall_ms += 4;
    spec.sleep_ms += 4;
  });
  EXPECT_EQ(report.hitches.play.at(0).verdict, Verdict::kSleep);
}

TEST(Causes, AMissedVsyncIsExplainedByTheWorkThatMissedIt) {
  FrameSpec usual;
  usual.wall_ms = 16.67;
  usual.present_ms = 4;
  const Report report = one_changed_frame(usual, [](FrameSpec& spec) {
    spec.wall_ms = 33.33;
    spec.present_ms = 33.33 - 18.67;  // 6 ms more work
    spec.alloc_ms += 6;
  });
  const Hitch& hitch = report.hitches.play.at(0);
  EXPECT_TRUE(hitch.by_work);
  EXPECT_EQ(hitch.verdict, Verdict::kAllocator);
  EXPECT_NEAR(hitch.excess_ns, 6e6, 1e4);
  EXPECT_EQ(cause_of(hitch, Part::kPresent), nullptr);
}

TEST(Causes, ACountThatPeaksWithoutTimeOnlyCoincides) {
  const Report report = report_of(support::sample_mixed());
  const Hitch* hitch = hitch_at(report, support::kMixedWaiting);
  ASSERT_NE(hitch, nullptr);
  ASSERT_EQ(hitch->coincidences.size(), 1u);
  EXPECT_EQ(hitch->coincidences[0].count, Count::kAllocs);
  EXPECT_EQ(hitch->coincidences[0].value, 1090u);
  EXPECT_EQ(hitch->coincidences[0].usual, 190);
  EXPECT_TRUE(hitch_at(report, support::kMixedNotMemory)->coincidences.empty());
}

TEST(Causes, WithoutCountersNothingIsInvented) {
  const Report report = one_changed_frame({}, [](FrameSpec& spec) {
    spec.wall_ms += 8;
    spec.waiting_ms = 8;
    spec.flags = model::kCountersIncomplete;
  });
  const Hitch& hitch = report.hitches.play.at(0);
  EXPECT_FALSE(hitch.balance.counters_known);
  EXPECT_EQ(hitch.balance[Part::kWaiting], 0);
  EXPECT_EQ(hitch.balance[Part::kFaults], 0);
}

}  // namespace
}  // namespace hitch::analyse
