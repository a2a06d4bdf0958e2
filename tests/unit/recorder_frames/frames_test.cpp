// Where frames begin and end, and which frame an event belongs to.
#include "recording.h"

namespace hitch::frames {
namespace {

using support::FakeThread;

TEST_F(Recording, WithoutPresentsTimeIsCutIntoWindows) {
  FakeThread thread(game_, 1);
  thread.alloc(5000, 0x10, 8, 0x400000, 10);
  thread.alloc(10005, 0x20, 8, 0x400000, 10);  // starts at 9995: the first window
  thread.alloc(25000, 0x30, 8, 0x400000, 10);
  drain(200000);
  finish(205000);
  EXPECT_EQ(frame(0).kind, 1u);
  EXPECT_EQ(frame(0).begin, 0u);
  EXPECT_EQ(frame(0).end, 10000u);
  EXPECT_EQ(frame(0).api, static_cast<std::uint64_t>(format::Api::kWindow));
  EXPECT_EQ(frame(0).flags, 4u);
  EXPECT_EQ(frame(19).end, 200000u);
  EXPECT_EQ(frame(20).end, 205000u);
  EXPECT_EQ(row(0).allocs, 2u);
  EXPECT_EQ(row(1).allocs, 0u);
  EXPECT_EQ(row(2).allocs, 1u);
}

TEST_F(Recording, TheFirstPresentCutsTheRunningWindow) {
  FakeThread thread(game_, 1);
  thread.alloc(12000, 0x10, 8, 0x400000, 1);
  thread.frame(13000, 13500);
  thread.alloc(14000, 0x20, 8, 0x400000, 1);
  thread.frame(20000, 20500);
  thread.alloc(21000, 0x30, 8, 0x400000, 1);
  drain(30000);
  finish(31000);
  EXPECT_EQ(frame(0).kind, 1u);
  EXPECT_EQ(frame(1).kind, 1u);
  EXPECT_EQ(frame(1).begin, 10000u);
  EXPECT_EQ(frame(1).end, 13500u);
  EXPECT_EQ(frame(2).kind, 0u);
  EXPECT_EQ(frame(2).begin, 13500u);
  EXPECT_EQ(frame(2).end, 20500u);
  EXPECT_EQ(frame(2).present_ticks, 500u);
  EXPECT_EQ(frame(2).thread, 1u);
  EXPECT_EQ(frame(3).kind, 2u);
  EXPECT_EQ(frame(3).end, 31000u);
  EXPECT_EQ(row(1).allocs, 1u);
  EXPECT_EQ(row(2).allocs, 1u);
  EXPECT_EQ(row(3).allocs, 1u);
  EXPECT_EQ(out_.all<trace::Frame>().size(), 4u);
}

TEST_F(Recording, AnEventBelongsToTheFrameInWhichItStarts) {
  FakeThread main(game_, 1);
  FakeThread worker(game_, 2);
  main.frame(900, 1000);
  main.frame(1900, 2000);
  main.frame(2900, 3000);
  worker.alloc(2001, 0x10, 100, 0x400000, 2);       // starts at 1999: frame 1
  worker.alloc(2002, 0x20, 10, 0x400000, 2);        // starts at 2000, the boundary: still frame 1
  worker.alloc(2500, 0x30, 1000, 0x400000, 1);      // frame 2
  worker.alloc(3100, 0x40, 10000, 0x400000, 1500);  // starts at 1600: frame 1, three later
  drain(3200);
  finish(3300);
  EXPECT_EQ(row(1, 1).bytes, 10110u);
  EXPECT_EQ(row(2, 1).bytes, 1000u);
  EXPECT_EQ(row(3, 1).bytes, 0u);
  EXPECT_EQ(frames_->timeline().late(), 0u);
}

TEST_F(Recording, LateRecordsAmendAFrameThatIsWritten) {
  FakeThread main(game_, 1);
  FakeThread worker(game_, 2);
  worker.alloc(500, 0x10, 7, 0x400000, 1);
  main.frame(900, 1000);
  main.frame(1900, 2000);
  main.frame(99900, 100000);
  drain(100001);
  EXPECT_EQ(frame(1).end, 2000u);  // written
  worker.alloc(1500, 0x20, 9, 0x400000, 1);
  drain(100002);
  finish(100003);
  EXPECT_EQ(row(0, 1).bytes, 7u);
  EXPECT_EQ(row(1, 1).bytes, 9u);
  EXPECT_EQ(frames_->timeline().late(), 1u);
  frame(1);  // still a single record
}

TEST_F(Recording, ALongFrameIsWrittenInParts) {
  FakeThread main(game_, 1);
  main.frame(90, 100);
  for (std::uint64_t i = 1; i <= 30; ++i) {
    main.alloc(i * 100000, i * 16, 1, 0x400000, 1);
    drain(i * 100000);
  }
  EXPECT_GE(out_.all<trace::FrameThread>().size(), 4u);
  EXPECT_EQ(out_.all<trace::Frame>().size(), 1u);
  main.frame(3100000, 3100100);
  drain(3200000);
  finish(3200001);
  EXPECT_EQ(row(1).allocs, 30u);
  EXPECT_EQ(frame(1).end, 3100100u);
}

TEST_F(Recording, CumulativeCountersBecomeDifferences) {
  FakeThread main(game_, 1);
  format::FrameRecord record{};
  record.api = static_cast<std::uint8_t>(format::Api::kGlx);
  const auto present = [&](std::uint64_t exit, std::uint64_t scale) {
    record.head = format::make_head(format::BufferKind::kFrame, exit);
    record.present_entry = exit - 7;
    record.sleep_ticks = 5 * scale;
    record.cpu_ns = 1000 * scale;
    record.cpu_ns_at_entry = 1000 * scale - 30;
    record.voluntary = static_cast<std::uint32_t>(2 * scale);
    record.involuntary = static_cast<std::uint32_t>(3 * scale);
    record.minor_faults = static_cast<std::uint32_t>(11 * scale);
    record.major_faults = static_cast<std::uint32_t>(scale);
    record.process_minor_faults = static_cast<std::uint32_t>(20 * scale);
    record.process_major_faults = static_cast<std::uint32_t>(2 * scale);
    record.process_cpu_ns = 4000 * scale;
    main.frame(record);
  };
  present(1000, 10);
  present(2000, 12);
  drain(3000);
  finish(3001);
  const trace::Frame f = frame(1);
  EXPECT_EQ(f.api, static_cast<std::uint64_t>(format::Api::kGlx));
  EXPECT_EQ(f.flags, 0u);
  EXPECT_EQ(f.present_ticks, 7u);
  EXPECT_EQ(f.sleep_ticks, 10u);
  EXPECT_EQ(f.cpu_ns, 2000u);
  EXPECT_EQ(f.present_cpu_ns, 30u);
  EXPECT_EQ(f.voluntary, 4u);
  EXPECT_EQ(f.involuntary, 6u);
  EXPECT_EQ(f.minor_faults, 22u);
  EXPECT_EQ(f.major_faults, 2u);
  EXPECT_EQ(f.process_minor_faults, 40u);
  EXPECT_EQ(f.process_major_faults, 4u);
  EXPECT_EQ(f.process_cpu_ns, 8000u);
}

TEST_F(Recording, MarksReplacePresents) {
  FakeThread main(game_, 1);
  main.frame(990, 1000);
  main.frame(1990, 2000);
  main.frame(2500, 2500, format::Api::kMark);
  main.frame(2990, 3000);  // no boundary any more
  main.frame(3500, 3500, format::Api::kMark);
  drain(4000);
  finish(4001);
  EXPECT_EQ(frame(2).begin, 2000u);
  EXPECT_EQ(frame(2).end, 2500u);
  EXPECT_EQ(frame(2).api, static_cast<std::uint64_t>(format::Api::kMark));
  EXPECT_EQ(frame(3).begin, 2500u);
  EXPECT_EQ(frame(3).end, 3500u);
}

TEST_F(Recording, ANewPresentingThreadHasNoCountersAtFirst) {
  FakeThread first(game_, 1);
  FakeThread second(game_, 2);
  first.frame(990, 1000);
  for (std::uint64_t i = 2; i < 20; ++i) second.frame(i * 1000 - 10, i * 1000);
  drain(30000);
  finish(30001);
  std::uint64_t incomplete = 0;
  std::uint64_t complete = 0;
  for (const trace::Frame& f : out_.all<trace::Frame>()) {
    if (f.kind != 0) continue;
    EXPECT_EQ(f.thread, 2u);
    (f.flags & 4) != 0 ? ++incomplete : ++complete;
  }
  EXPECT_EQ(incomplete, 1u);
  EXPECT_GE(complete, 10u);
}

TEST_F(Recording, LiveBlocksAreThoseAtTheFramesEnd) {
  FakeThread main(game_, 1);
  main.alloc(100, 0x1000, 100, 0x400000, 1);
  main.alloc(200, 0x2000, 50, 0x400000, 1);
  main.frame(990, 1000);
  main.free(1100, 0x1000, 0x400000, 1);
  main.frame(1990, 2000);
  main.free(2100, 0x2000, 0x400000, 1);
  drain(2200);
  finish(2300);
  EXPECT_EQ(frame(0).live_blocks, 2u);
  EXPECT_EQ(frame(0).live_bytes, 150u);
  EXPECT_EQ(frame(1).live_blocks, 1u);
  EXPECT_EQ(frame(1).live_bytes, 50u);
  EXPECT_EQ(frame(2).live_blocks, 0u);
}

class CountLevel : public Recording {
 protected:
  static AggregatorConfig count() {
    AggregatorConfig config = microseconds();
    config.level = format::Level::kCount;
    return config;
  }
  CountLevel() : Recording(count()) {
    frames_->timeline().set_epoch_bump([this] { return pool_->header().frame_epoch.fetch_add(1); });
  }
  // A thread's sums since its last flush, as of the epoch it is in.
  static format::FlushRecord sums(std::uint32_t epoch, std::uint64_t allocs) {
    format::FlushRecord record{};
    record.epoch = epoch;
    record.allocs = allocs;
    record.frees = allocs / 2;
    record.bytes = allocs * 16;
    return record;
  }
};

TEST_F(CountLevel, EpochsBecomeFramesAndIdleThreadsLoseNothing) {
  FakeThread main(game_, 1);
  FakeThread idle(game_, 2);
  idle.count_only(40, 20, 640);  // in epoch 0, flushed much later
  main.count_only(10, 5, 160);
  main.frame(990, 1000);  // ends epoch 0
  main.flush(1001, sums(0, 10));
  main.count_only(30, 15, 480);
  main.frame(1990, 2000);  // ends epoch 1
  main.flush(2001, sums(1, 30));
  idle.flush(2500, sums(0, 40));
  main.count_only(7, 3, 112);  // never flushed
  drain(3000);
  finish(3001);
  EXPECT_EQ(row(0, 0).allocs, 10u);
  EXPECT_EQ(row(0, 1).allocs, 40u);
  EXPECT_EQ(row(1, 0).allocs, 30u);
  EXPECT_EQ(row(1, 0).frees, 15u);
  EXPECT_EQ(row(1, 0).bytes, 480u);
  EXPECT_EQ(row(2, 0).allocs, 7u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::allocs), 87u);
  EXPECT_EQ(out_.sum(&trace::Counters::allocs), 87u);
  EXPECT_EQ(out_.sum(&trace::Counters::dropped), 0u);
}

TEST_F(CountLevel, WindowsRaiseTheEpochThemselves) {
  FakeThread main(game_, 1);
  main.count_only(10, 0, 160);
  drain(10001);  // the first window is over: epoch 0 ended with it
  EXPECT_EQ(pool_->header().frame_epoch.load(), 1u);
  main.flush(10002, sums(0, 10));
  main.count_only(20, 0, 320);
  drain(20001);
  EXPECT_EQ(pool_->header().frame_epoch.load(), 2u);
  main.flush(20002, sums(1, 20));
  drain(20003);
  finish(20004);
  EXPECT_EQ(row(0).allocs, 10u);
  EXPECT_EQ(row(1).allocs, 20u);
  EXPECT_EQ(frame(0).kind, 1u);
}

}  // namespace
}  // namespace hitch::frames
