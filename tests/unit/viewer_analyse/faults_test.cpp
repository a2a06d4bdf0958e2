// Traces with page faults and switches one by one: whose memory, which verdict, which price.
#include "viewer/analyse/faults.h"

#include <gtest/gtest.h>

#include "analyse_fixture.h"

namespace hitch::analyse {
namespace {

namespace trace = format::trace;
using format::FaultKind;
using format::FaultOwner;
using support::FrameSpec;
using support::TraceBuilder;

constexpr std::uint64_t kHitch = 150;

// 300 frames of 10 ms; frame 150 is `spec`, with further rows.
template <class... Records>
Report with(const FrameSpec& spec, const Records&... records) {
  TraceBuilder builder;
  builder.preamble().meta("faults.source", "perf_event");
  for (std::uint64_t i = 0; i < 300; ++i) builder.frame(i == kHitch ? spec : FrameSpec{});
  (builder.add(records), ...);
  return report_of(builder.finish());
}

const Hitch& only(const Report& report) {
  EXPECT_EQ(report.hitches.play.size(), 1u);
  return report.hitches.play.at(0);
}

FrameSpec longer(double ms) {
  FrameSpec spec;
  spec.wall_ms += ms;
  return spec;
}

TEST(Faults, TheOwnerOfAHitchsFaultsIsKnown) {
  FrameSpec spec = longer(5);
  spec.minor_faults = 5000;
  trace::FrameThread row;
  row.frame = kHitch;
  row.faults = 5000;
  const Report report = with(spec, row, support::fault_row(kHitch, 0, FaultOwner::kBlock, 1, 4900),
                             support::fault_row(kHitch, 0, FaultOwner::kStack, 0, 100),
                             support::fault_row(kHitch, 2, FaultOwner::kBlock, 0, 70));
  const Hitch& hitch = only(report);
  EXPECT_EQ(hitch.verdict, Verdict::kFaults);
  ASSERT_EQ(hitch.faults.own.size(), 2u);
  EXPECT_EQ(hitch.faults.own[0].owner, FaultOwner::kBlock);
  EXPECT_EQ(hitch.faults.own[0].faults, 4900u);
  EXPECT_EQ(hitch.faults.own[0].bytes, 4900 * 4096.0);
  EXPECT_EQ(hitch.faults.seen, 5000u);
  EXPECT_EQ(hitch.faults.unseen, 0u);
  ASSERT_EQ(hitch.faults.others.size(), 1u);
  EXPECT_EQ(hitch.faults.others[0].faults, 70u);
}

TEST(Faults, ThoseInSystemCallsAreOnlyCounted) {
  FrameSpec spec = longer(5);
  spec.minor_faults = 5000;
  trace::FrameThread row;
  row.frame = kHitch;
  row.faults = 1000;
  const Report report = with(spec, row, support::fault_row(kHitch, 0, FaultOwner::kBlock, 1, 1000));
  EXPECT_EQ(only(report).faults.unseen, 4000u);
  EXPECT_EQ(report.fault_totals.counted - report.fault_totals.seen_in_those,
            4000u + 299u * FrameSpec{}.minor_faults);
}

TEST(Faults, InsideACallTheyAreAPartOfItsTime) {
  FrameSpec spec = longer(5);
  spec.alloc_ms = 5.1;
  spec.minor_faults = 4000;
  trace::FrameThread row;
  row.frame = kHitch;
  row.faults = 4000;
  row.call_faults = 4000;
  const Report report = with(spec, row);
  const Hitch& hitch = only(report);
  EXPECT_EQ(hitch.verdict, Verdict::kAllocator);
  EXPECT_NEAR(hitch.balance.faults_in_allocator, 4e6, 1e4);
  EXPECT_NEAR(hitch.balance[Part::kFaults], 0, 1e3);
}

TEST(Faults, BlockedInACallIsNotWaitingToo) {
  FrameSpec spec = longer(5);
  spec.alloc_ms = 5.1;
  spec.waiting_ms = 5;
  trace::FrameThread row;
  row.frame = kHitch;
  row.off_ticks = row.call_off_ticks = 5'000'000;
  row.blocked_calls = 2;
  const Report report = with(spec, row);
  const Hitch& hitch = only(report);
  EXPECT_EQ(hitch.verdict, Verdict::kAllocator);
  EXPECT_NEAR(hitch.balance.blocked_in_allocator, 5e6, 1e3);
  EXPECT_NEAR(hitch.balance[Part::kWaiting], 0, 1e3);
  ASSERT_EQ(report.contention.size(), 1u);
  EXPECT_EQ(report.contention[0].blocked_calls, 2u);
  EXPECT_NEAR(report.contention[0].blocked_ns, 5e6, 1);
}

TEST(Faults, WaitingNamesMemoryOnlyIfItHappenedMeanwhile) {
  FrameSpec spec = longer(6);
  spec.waiting_ms = 6;
  spec.other_minor_faults = 5000;
  trace::FrameThread busy;
  busy.frame = kHitch;
  busy.thread = 2;
  busy.faults = 5000;
  trace::FrameThread meanwhile = busy;
  meanwhile.waited_faults = 4800;
  EXPECT_EQ(only(with(spec, busy)).verdict, Verdict::kWaiting);
  EXPECT_EQ(only(with(spec, meanwhile)).verdict, Verdict::kWaitingOnMemory);
}

TEST(Faults, PreemptedIsToldByTimeNotByCount) {
  FrameSpec spec = longer(6);
  spec.waiting_ms = 6;
  spec.involuntary = 9;
  trace::FrameThread row;
  row.frame = kHitch;
  row.off_ticks = 6'000'000;
  row.preempted_ticks = 500'000;
  EXPECT_EQ(only(with(spec, row)).verdict, Verdict::kWaiting);
  row.preempted_ticks = 5'500'000;
  EXPECT_EQ(only(with(spec, row)).verdict, Verdict::kPreempted);
  row.taken_ticks = 5'000'000;  // by its own workers
  EXPECT_EQ(only(with(spec, row)).verdict, Verdict::kWaiting);
}

TEST(Faults, ThePriceOfTheGameComesFirst) {
  TraceBuilder builder;
  builder.preamble().meta("faults.source", "perf_event").frames(3, FrameSpec{});
  builder.add(trace::FaultPrice{0, 0, 256, 1'000'000, 900'000, 1'100'000, 400'000, 300'000});
  EXPECT_NEAR(report_of(builder).measures.fault_price_ns, 1400, 1e-6);
  TraceBuilder few = builder;
  few.add(trace::FaultPrice{0, 1, 8, 2'000'000, 1'900'000, 2'100'000, 0, 0});
  EXPECT_NEAR(report_of(few).measures.fault_price_ns, 1400, 1e-6);
  EXPECT_FALSE(report_of(few).measures.price_in_game);
  TraceBuilder many = builder;
  many.add(trace::FaultPrice{0, 1, 800, 2'000'000, 1'900'000, 2'100'000, 0, 0});
  const Report report = report_of(many);
  EXPECT_NEAR(report.measures.fault_price_ns, 2300, 1e-6);
  EXPECT_TRUE(report.measures.price_in_game);
  EXPECT_NEAR(report.measures.fault_capture_ns, 400, 1e-6);
}

TEST(Faults, ChurnNeedsMappingsThatComeBackWithTheirFaults) {
  const Report report = with(FrameSpec{}, trace::SiteChurn{0, 40, 40, 31, 80 << 20, 15'872, 31},
                             trace::SiteChurn{1, 40, 40, 2, 80 << 20, 1000, 2},    // seldom
                             trace::SiteChurn{2, 40, 40, 31, 80 << 20, 100, 31});  // hardly touched
  ASSERT_EQ(report.churn.size(), 1u);
  EXPECT_EQ(report.churn[0].site, model::SiteId(0u));
  EXPECT_EQ(report.churn[0].unmaps, 31u);
  EXPECT_EQ(report.churn[0].faults, 15'872u);
  EXPECT_NEAR(report.churn[0].est_ns, 15'872 * report.measures.fault_price_ns, 1);
}

TEST(Faults, EachOutlierHasOneCause) {
  const Report report = with(FrameSpec{});
  model::Outlier outlier;
  outlier.ticks = 100'000;
  outlier.switches_known = true;
  const auto cause = [&](auto&& change) {
    model::Outlier changed = outlier;
    change(changed);
    return outlier_cause(report.trace, changed, report.measures);
  };
  constexpr std::uint8_t kFree = 7;
  EXPECT_EQ(cause([](auto&) {}), OutlierCause::kUnknown);
  EXPECT_EQ(cause([](auto& o) { o.faults = 60; }), OutlierCause::kFaults);
  EXPECT_EQ(cause([](auto& o) { o.faults = 2; }), OutlierCause::kMapping);
  EXPECT_EQ(cause([](auto& o) { o.size = 1 << 20; }), OutlierCause::kMapping);
  EXPECT_EQ(cause([](auto& o) { o.op = kFree; }), OutlierCause::kTrimming);
  EXPECT_EQ(cause([](auto& o) { o.off_ticks = 80'000; }), OutlierCause::kContention);
  EXPECT_EQ(cause([](auto& o) { o.off_ticks = o.preempted_ticks = 80'000; }),
            OutlierCause::kPreempted);
  EXPECT_EQ(cause([](auto& o) {
              o.off_ticks = 80'000;
              o.switches_known = false;  // 0 and 80,000 mean nothing then
            }),
            OutlierCause::kUnknown);
}

TEST(Faults, ThreadsHaveABalanceOfTheirOwn) {
  trace::FrameThread row;
  row.frame = kHitch;
  row.thread = 2;
  row.alloc_ticks = 1'000'000;
  row.faults = 2000;
  row.call_faults = 500;
  row.off_ticks = 4'000'000;
  row.call_off_ticks = 500'000;
  row.preempted_ticks = 700'000;
  row.call_preempted_ticks = 200'000;
  const Report report = with(FrameSpec{}, row);
  for (const model::FrameThread& found : report.trace.threads_of(model::FrameId(kHitch))) {
    if (found.thread != model::ThreadId(2u)) continue;
    const ThreadBalance balance = thread_balance_of(report.trace, found, report.measures);
    EXPECT_NEAR(balance.allocator, 1e6, 1);
    EXPECT_NEAR(balance.off_cpu, 3.5e6, 1);
    EXPECT_NEAR(balance.preempted, 0.5e6, 1);
    EXPECT_NEAR(balance.faults, 1500 * report.measures.fault_price_ns, 1);
    EXPECT_NEAR(balance.allocator + balance.off_cpu + balance.faults + balance.rest, balance.wall,
                1);
    return;
  }
  FAIL() << "thread 2 has no row";
}

TEST(Faults, RowsOfThingsThatAreNotThereDoNoHarm) {
  trace::CodeSample sample;
  sample.frame = kHitch;
  sample.place = 77;
  const Report report =
      with(longer(5), support::fault_row(kHitch, 9, FaultOwner::kBlock, 99'999, 10),
           support::fault_row(kHitch, 0, FaultOwner::kModule, 12, 10),
           support::fault_row(kHitch, 0, FaultOwner::kMapping, 500, 10),
           support::fault_row(kHitch, 0, FaultOwner::kFile, 500, 10), sample,
           trace::SiteChurn{4711, 9, 9, 9, 9, 999, 9});
  EXPECT_EQ(report.hitches.play.size(), 1u);
  EXPECT_TRUE(report.churn.empty());
  EXPECT_TRUE(report.trace.code_samples.empty());
  for (const model::FrameFault& row : report.trace.faults)
    EXPECT_NE(row.owner, FaultOwner::kModule);
}

}  // namespace
}  // namespace hitch::analyse
