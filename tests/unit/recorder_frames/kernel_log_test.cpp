// What the kernel tells, joined with what the threads tell: who owns a page fault, whether a call
// encloses it, and when threads were off the CPU. One tick is one microsecond.
#include <array>
#include <vector>

#include "recording.h"

namespace hitch::frames {
namespace {

using faults::KernelEvent;
using faults::KernelEventKind;
using format::FaultKind;
using format::FaultOwner;
using support::FakeThread;

constexpr std::uint64_t kBlock = 0x7f0000100010;
constexpr std::uint64_t kPage = 4096;

class FakeSource final : public faults::FaultSource {
 public:
  faults::SourceKind kind() const override { return faults::SourceKind::kPerfEvent; }
  std::string name() const override { return "perf_event"; }
  void read(std::vector<KernelEvent>& out) override {
    out.insert(out.end(), waiting.begin(), waiting.end());
    waiting.clear();
  }
  faults::SourceCounts counts() const override { return {0, lost}; }

  void fault(std::uint64_t key, std::uint32_t tid, std::uint64_t address, std::uint64_t ip = 0) {
    waiting.push_back({key, address, ip, tid, KernelEventKind::kFault, 0, false, false});
  }
  void event(KernelEventKind kind, std::uint64_t key, std::uint32_t tid, bool preempted = false,
             std::uint8_t processor = 0) {
    waiting.push_back({key, 0, 0, tid, kind, processor, preempted, false});
  }
  void off(std::uint64_t begin, std::uint64_t end, std::uint32_t tid, bool preempted = false) {
    event(KernelEventKind::kSwitchOut, begin, tid, preempted);
    event(KernelEventKind::kSwitchIn, end, tid);
  }

  std::vector<KernelEvent> waiting;
  std::uint64_t lost = 0;
};

class KernelLogTest : public Recording {
 protected:
  KernelLogTest() { frames_->kernel().set_source(&source_); }
  void drain_all(std::uint64_t now) {
    now_ = now;
    frames_->kernel().fetch();
    drain(now);
  }
  void end(std::uint64_t now) {
    drain_all(now);
    finish(now + 1);
  }
  std::uint64_t faults_of(FaultOwner owner) const {
    return out_.sum_if(&trace::FrameFault::faults, [owner](const trace::FrameFault& row) {
      return row.owner == static_cast<std::uint64_t>(owner);
    });
  }
  std::uint64_t faults_of(FaultKind kind) const {
    return out_.sum_if(&trace::FrameFault::faults, [kind](const trace::FrameFault& row) {
      return row.kind == static_cast<std::uint64_t>(kind);
    });
  }
  std::uint64_t sum_of(std::uint64_t number, std::uint64_t trace::FrameThread::*field) const {
    return out_.sum_if(field, [number](const trace::FrameThread& r) { return r.frame == number; });
  }
  std::uint64_t row_faults(std::uint64_t number) const {
    return sum_of(number, &trace::FrameThread::faults);
  }
  std::uint64_t off_ticks(std::uint64_t number) const {
    return sum_of(number, &trace::FrameThread::off_ticks);
  }
  std::uint64_t preempted_ticks(std::uint64_t number) const {
    return sum_of(number, &trace::FrameThread::preempted_ticks);
  }
  std::uint64_t site_address(std::uint64_t site) const {
    std::uint64_t address = 0;
    for (const trace::Site& record : out_.all<trace::Site>()) {
      if (record.id == site) address = record.address;
    }
    return address;
  }

  FakeSource source_;
};

TEST_F(KernelLogTest, AFirstTouchBelongsToTheSiteThatAllocated) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 10 * kPage, 0x400000, 5);
  for (std::uint64_t i = 0; i < 10; ++i) source_.fault(200 + i, 7, kBlock + i * kPage, 0x400500);
  thread.alloc(300, 0x10, 8, 0x400100, 1);
  end(1000);
  ASSERT_EQ(out_.all<trace::FrameFault>().size(), 1u);
  const trace::FrameFault& row = out_.all<trace::FrameFault>()[0];
  EXPECT_EQ(row.owner, static_cast<std::uint64_t>(FaultOwner::kBlock));
  EXPECT_EQ(site_address(row.id), 0x400000u);
  EXPECT_EQ(row.faults, 10u);
  EXPECT_EQ(row.call_faults, 0u);
  ASSERT_EQ(out_.all<trace::Place>().size(), 1u);
  EXPECT_EQ(out_.all<trace::Place>()[0].address, 0x400500u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::faults), 10u);
}

TEST_F(KernelLogTest, AFaultInsideTheCallBelongsToTheBlockTheCallReturns) {
  FakeThread thread(game_, 7);
  source_.fault(90, 7, kBlock + kPage);
  source_.fault(95, 7, kBlock - 16);  // the allocator's own words before it
  thread.alloc(100, kBlock, 10 * kPage, 0x400000, 20);
  end(1000);
  EXPECT_EQ(faults_of(FaultOwner::kBlock), 1u);
  EXPECT_EQ(faults_of(FaultOwner::kAllocator), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_faults), 2u);
  for (const trace::FrameFault& row : out_.all<trace::FrameFault>())
    EXPECT_EQ(site_address(row.id), 0x400000u);
}

TEST_F(KernelLogTest, AFaultInsideAReleaseIsInsideACall) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 64, 0x400000, 5);
  thread.free(200, kBlock, 0x400200, 50);
  source_.fault(220, 7, kBlock + 2 * kPage);
  source_.fault(260, 7, kBlock + 3 * kPage);  // after it
  thread.alloc(400, 0x10, 8, 0x400100, 1);
  end(1000);
  EXPECT_EQ(out_.sum(&trace::FrameThread::faults), 2u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_faults), 1u);
  EXPECT_EQ(faults_of(FaultOwner::kAllocator), 1u);
}

TEST_F(KernelLogTest, AFaultGoesToTheBlockThatWasLiveThen) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 4 * kPage, 0x400000, 5);
  source_.fault(150, 7, kBlock + kPage);
  thread.free(200, kBlock, 0x400200, 5);
  thread.alloc(300, kBlock, 4 * kPage, 0x400300, 5);
  source_.fault(350, 7, kBlock + kPage);
  thread.alloc(400, 0x10, 8, 0x400100, 1);
  end(1000);
  ASSERT_EQ(out_.all<trace::FrameFault>().size(), 2u);
  std::array<std::uint64_t, 2> sites{};
  for (const trace::FrameFault& row : out_.all<trace::FrameFault>()) {
    const bool again = row.kind == static_cast<std::uint64_t>(FaultKind::kRecycled);
    sites[again ? 1 : 0] = site_address(row.id);
  }
  EXPECT_EQ(sites[0], 0x400000u);
  EXPECT_EQ(sites[1], 0x400300u);
}

TEST_F(KernelLogTest, TheSamePageOfTheSameBlockIsTouchedAgainOrCopied) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 4 * kPage, 0x400000, 5);
  source_.fault(150, 7, kBlock + kPage);
  source_.fault(160, 7, kBlock + kPage);
  source_.event(KernelEventKind::kFork, 170, 7);
  source_.fault(180, 7, kBlock + kPage);
  end(1000);
  EXPECT_EQ(faults_of(FaultKind::kFirstTouch), 1u);
  EXPECT_EQ(faults_of(FaultKind::kAgain), 1u);
  EXPECT_EQ(faults_of(FaultKind::kCopyOnWrite), 1u);
}

TEST_F(KernelLogTest, AMajorFaultIsTheOneThatReadTheFile) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 4 * kPage, 0x400000, 5);
  source_.fault(150, 7, kBlock + kPage);
  source_.fault(200, 7, kBlock + 2 * kPage);
  source_.waiting.push_back(
      {5000, kBlock + 2 * kPage, 0, 7, KernelEventKind::kMajor, 0, false, false});
  end(10000);
  EXPECT_EQ(faults_of(FaultKind::kMajor), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::major_faults), 1u);
}

TEST_F(KernelLogTest, FaultsBelongToTheFrameTheyHappenIn) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 40 * kPage, 0x400000, 5);
  thread.frame(990, 1000);
  source_.fault(1500, 7, kBlock + kPage);
  source_.fault(1600, 7, kBlock + 2 * kPage);
  thread.frame(1990, 2000);
  source_.fault(2500, 7, kBlock + 3 * kPage);
  thread.frame(2990, 3000);
  thread.alloc(3100, 0x10, 8, 0x400100, 1);
  end(4000);
  EXPECT_EQ(row_faults(1), 2u);
  EXPECT_EQ(row_faults(2), 1u);
  // One of the faults came two frames after the block, two of them one frame.
  EXPECT_EQ(out_.sum(&trace::FrameFault::age_frames), 1u + 1 + 2);
}

TEST_F(KernelLogTest, TheShimsOwnMemoryIsNotTheGames) {
  frames_->kernel().set_own_memory({{{0x5000000, 0x6000000}, {0x7000000, 0x7100000}}});
  source_.fault(50, 7, 0x5000000);  // before the thread's first record
  drain_all(60);
  FakeThread thread(game_, 7);
  source_.fault(150, 7, 0x7000010);
  thread.alloc(200, 0x10, 8, 0x400100, 1);
  end(1000);
  EXPECT_EQ(faults_of(FaultOwner::kShim), 1u);  // nobody numbers threads without records here
  ASSERT_EQ(out_.all<trace::ThreadFaults>().size(), 1u);
  EXPECT_EQ(out_.all<trace::ThreadFaults>()[0].own_faults, 1u);
}

TEST_F(KernelLogTest, AThreadWithoutRecordsHasANumberThatItKeeps) {
  frames_->kernel().set_early_threads(
      {[this](std::uint32_t tid) { return drainer_->number_early(tid); },
       [this](std::uint32_t tid) { drainer_->forget_early(tid); }});
  FakeThread first(game_, 6);
  first.alloc(50, kBlock, 10 * kPage, 0x400000, 5);
  drain_all(60);
  source_.fault(100, 7, kBlock + kPage);
  drain_all(200);
  FakeThread thread(game_, 7);
  thread.alloc(300, 0x10, 8, 0x400100, 1);
  end(1000);
  EXPECT_EQ(out_.all<trace::Thread>().size(), 2u);
  EXPECT_EQ(out_.sum_if(&trace::FrameThread::faults,
                        [](const trace::FrameThread& r) { return r.thread == 1; }),
            1u);
  EXPECT_EQ(out_.sum_if(&trace::FrameThread::allocs,
                        [](const trace::FrameThread& r) { return r.thread == 1; }),
            1u);
}

TEST_F(KernelLogTest, TimeOffTheCpuIsToldApart) {
  FakeThread thread(game_, 7);
  thread.frame(90, 100);
  source_.off(200, 300, 7);
  source_.off(400, 450, 7, true);
  source_.off(905, 985, 7);  // in the present call
  source_.off(990, 995, 7, true);
  thread.frame(900, 1000);
  end(2000);
  EXPECT_EQ(off_ticks(1), 100u + 50 + 80 + 5);
  EXPECT_EQ(preempted_ticks(1), 50u + 5);
  EXPECT_EQ(frame(1).present_off_ticks, 85u);
  EXPECT_EQ(frame(1).present_preempted_ticks, 5u);
}

// Its row of the first frame is written long before it comes back.
TEST_F(KernelLogTest, AThreadThatSleepsLongSleepsInTheFramesAtBothEnds) {
  FakeThread main(game_, 1);
  FakeThread worker(game_, 2);
  main.frame(90, 100);
  drain_all(150);
  worker.alloc(200, 0x10, 8, 0x400000, 10);
  source_.event(KernelEventKind::kSwitchOut, 300, 2);
  for (std::uint64_t i = 1; i <= 50; ++i) main.frame(i * 1000 - 10, i * 1000);
  drain_all(200'000);
  EXPECT_EQ(off_ticks(1), 700u);
  source_.event(KernelEventKind::kSwitchIn, 200'500, 2);
  main.frame(200'990, 201'000);
  end(300'000);
  EXPECT_EQ(off_ticks(1), 700u);
  for (std::uint64_t frame = 2; frame <= 50; ++frame) EXPECT_EQ(off_ticks(frame), 0u) << frame;
  EXPECT_EQ(off_ticks(51), 200'500u - 50'000);
}

TEST_F(KernelLogTest, ACallThatLeavesTheCpuIsBlockedOnALock) {
  FakeThread thread(game_, 7);
  source_.off(110, 180, 7);
  thread.alloc(200, kBlock, 64, 0x400000, 100);  // 100 .. 200
  source_.off(310, 330, 7, true);
  thread.alloc(400, kBlock + 64, 64, 0x400000, 100);
  source_.off(500, 600, 7);
  thread.alloc(700, kBlock + 128, 64, 0x400000, 5);
  end(1000);
  EXPECT_EQ(out_.sum(&trace::FrameThread::blocked_calls), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_off_ticks), 90u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_preempted_ticks), 20u);
}

// The release's time comes with the next record, which is itself interrupted.
TEST_F(KernelLogTest, ACallAfterAReleaseKeepsItsOwnSwitches) {
  FakeThread thread(game_, 7);
  thread.alloc(50, kBlock, 64, 0x400000, 5);
  thread.free(100, kBlock, 0x400200, 10);
  source_.off(210, 280, 7, true);
  thread.alloc(300, kBlock, 64, 0x400000, 100);
  end(1000);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_preempted_ticks), 70u);
}

TEST_F(KernelLogTest, WhatOthersDidWhileThePresentingThreadWaited) {
  FakeThread main(game_, 1);
  FakeThread worker(game_, 2);
  main.frame(90, 100);
  drain_all(150);
  worker.alloc(250, kBlock, 10 * kPage, 0x400000, 10);
  source_.event(KernelEventKind::kSwitchOut, 300, 1);
  source_.fault(400, 2, kBlock + kPage);
  worker.alloc(450, 0x10, 8, 0x400100, 20);
  source_.event(KernelEventKind::kSwitchIn, 500, 1);
  source_.fault(600, 2, kBlock + 2 * kPage);
  worker.alloc(700, 0x20, 8, 0x400100, 20);
  main.frame(890, 900);
  end(1000);
  EXPECT_EQ(out_.sum(&trace::FrameThread::waited_faults), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::waited_ticks), 20u);
  EXPECT_EQ(out_.sum(&trace::FrameFault::waited_faults), 1u);
}

TEST_F(KernelLogTest, WhoTookThePresentingThreadsCpu) {
  FakeThread main(game_, 1);
  FakeThread worker(game_, 2);
  main.frame(90, 100);
  worker.alloc(95, 0x10, 8, 0x400000, 1);
  drain_all(150);
  source_.event(KernelEventKind::kSwitchOut, 300, 1, true, 1);
  source_.event(KernelEventKind::kSwitchIn, 310, 2, false, 1);  // on the same processor
  source_.event(KernelEventKind::kSwitchOut, 350, 2, false, 1);
  // From 350 to 400 another process has it.
  source_.event(KernelEventKind::kSwitchIn, 400, 1, false, 1);
  source_.event(KernelEventKind::kSwitchOut, 500, 1, true, 1);
  source_.event(KernelEventKind::kSwitchIn, 510, 2, false, 0);  // on another one
  source_.event(KernelEventKind::kSwitchIn, 600, 1, false, 1);
  source_.event(KernelEventKind::kSwitchOut, 700, 1, false, 0);  // of its own accord
  source_.event(KernelEventKind::kSwitchIn, 710, 2, false, 0);
  source_.event(KernelEventKind::kSwitchIn, 800, 1, false, 1);
  main.frame(990, 1000);
  end(2000);
  EXPECT_EQ(preempted_ticks(1), 200u);
  EXPECT_EQ(sum_of(1, &trace::FrameThread::taken_ticks), 40u);
}

TEST_F(KernelLogTest, CallsThatOverlapAreComparedWithThoseThatDoNot) {
  FakeThread a(game_, 1);
  FakeThread b(game_, 2);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    a.alloc(i * 100, i * 0x100, 64, 0x400000, 10);
    b.alloc(i * 100 + 50, i * 0x100 + 0x10000, 64, 0x400000, 10);
  }
  // b's call begins before a's has ended.
  a.alloc(3000, 0x100000, 64, 0x400000, 10);
  b.alloc(3040, 0x200000, 64, 0x400000, 45);
  end(4000);
  EXPECT_EQ(out_.sum(&trace::FrameThread::overlap_calls), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::overlap_ticks), 45u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::overlap_usual_ticks), 10u);
}

TEST_F(KernelLogTest, AnOutlierKnowsWhatHappenedInsideIt) {
  FakeThread thread(game_, 7);
  source_.fault(120, 7, kBlock + kPage);
  source_.off(130, 160, 7, true);
  thread.alloc(200, kBlock, 10 * kPage, 0x400000, 100);
  thread.outlier(201, kBlock, 0x400000, format::Op::kMalloc, 10 * kPage, 100);
  end(1000);
  ASSERT_EQ(out_.all<trace::Outlier>().size(), 1u);
  const trace::Outlier& outlier = out_.all<trace::Outlier>()[0];
  EXPECT_EQ(outlier.faults, 1u);
  EXPECT_EQ(outlier.off_ticks, 30u);
  EXPECT_EQ(outlier.preempted_ticks, 30u);
  EXPECT_EQ(outlier.switches_known, 1u);
}

TEST_F(KernelLogTest, CodeIsKeptOfHitchesAlone) {
  FakeThread thread(game_, 7);
  thread.frame(90, 100);
  const auto sample = [&](std::uint64_t key, std::uint64_t ip) {
    source_.waiting.push_back({key, 0, ip, 7, KernelEventKind::kSample, 0, false, false});
  };
  sample(500, 0x400700);
  thread.frame(990, 1000);
  sample(1500, 0x400800);
  sample(1600, 0x400800);
  thread.frame(1990, 2000);
  drain_all(100000);
  frames_->judged(frame(1), false);
  frames_->judged(frame(2), true);
  finish(100001);
  ASSERT_EQ(out_.all<trace::CodeSample>().size(), 1u);
  EXPECT_EQ(out_.all<trace::CodeSample>()[0].frame, 2u);
  EXPECT_EQ(out_.all<trace::CodeSample>()[0].samples, 2u);
  ASSERT_EQ(out_.all<trace::Place>().size(), 1u);
  EXPECT_EQ(out_.all<trace::Place>()[0].address, 0x400800u);
}

TEST_F(KernelLogTest, ChurnIsABufferThatIsMappedAgainAndAgain) {
  FakeThread thread(game_, 7);
  constexpr std::uint64_t kBytes = 256 * 1024;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const std::uint64_t begin = 1000 * (i + 1);
    thread.alloc(begin, kBlock, kBytes, 0x400000, 5);
    for (std::uint64_t page = 0; page < 64; ++page)
      source_.fault(begin + 10 + page, 7, kBlock + page * kPage);
    thread.free(begin + 500, kBlock, 0x400200, 5);
  }
  end(10000);
  ASSERT_EQ(out_.all<trace::SiteChurn>().size(), 1u);
  const trace::SiteChurn& churn = out_.all<trace::SiteChurn>()[0];
  EXPECT_EQ(churn.allocs, 5u);
  EXPECT_EQ(churn.frees, 5u);
  EXPECT_EQ(churn.remapped, 4u);  // after the last one none came
  EXPECT_EQ(churn.faults, 4u * 64);
  EXPECT_EQ(faults_of(FaultKind::kFirstTouch), 64u);
  EXPECT_EQ(faults_of(FaultKind::kRecycled), 4u * 64);
}

// The kernel moves its pages; only what it grows by is fresh.
TEST_F(KernelLogTest, ABlockThatGrowsByReallocIsNoChurn) {
  FakeThread thread(game_, 7);
  constexpr std::uint64_t kBytes = 256 * 1024;
  thread.alloc(100, kBlock, kBytes, 0x400000, 5);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    for (std::uint64_t page = 0; page < 64; ++page)
      source_.fault(1000 * i + page, 7, kBlock + (i * 64 + page) * kPage);
    thread.realloc_begin(1000 * i + 500, kBlock, 0x400300);
    thread.realloc_end(format::BufferKind::kReallocInPlace, 1000 * i + 510, kBlock,
                       kBytes * (i + 1), 0x400300, 5);
  }
  thread.free(9000, kBlock, 0x400200, 5);
  thread.alloc(9500, kBlock, kBytes, 0x400000, 5);
  end(10000);
  std::uint64_t remapped = 0;
  for (const trace::SiteChurn& churn : out_.all<trace::SiteChurn>()) remapped += churn.remapped;
  EXPECT_EQ(remapped, 0u);  // the block that was released was another site's by then
}

TEST_F(KernelLogTest, LongCallsAreWaitedFor) {
  FakeThread thread(game_, 7);
  source_.fault(1000, 7, kBlock + kPage);
  drain_all(2000);
  drain_all(300'000);
  thread.alloc(400'000, kBlock, 10 * kPage, 0x400000, 399'500);  // began at 500
  end(500'000);
  EXPECT_EQ(faults_of(FaultOwner::kBlock), 1u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::call_faults), 1u);
}

TEST_F(KernelLogTest, WhatTheKernelLostIsTold) {
  FakeThread thread(game_, 7);
  thread.alloc(100, kBlock, 64, 0x400000, 5);
  source_.lost = 3;
  end(1000);
  EXPECT_EQ(out_.sum(&trace::ThreadFaults::lost), 3u);
}

}  // namespace
}  // namespace hitch::frames
