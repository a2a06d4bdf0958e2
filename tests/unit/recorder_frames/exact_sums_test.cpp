// Whatever happens on the way, rows + gaps equal what the threads counted.
#include <random>
#include <thread>

#include "recording.h"

namespace hitch::frames {
namespace {

using format::BufferKind;
using support::FakeThread;

struct Told {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t bytes = 0;
  std::uint64_t alloc_ticks = 0;
  std::uint64_t free_ticks = 0;
  std::uint64_t realloc_ticks = 0;
};

// A thread of a game: allocates, releases, reallocates; the first one presents.
Told play(FakeThread& thread, std::uint32_t number, std::atomic<std::uint64_t>& clock,
          std::uint64_t calls, bool wait_for_room) {
  std::mt19937_64 random(number);
  std::vector<std::uint64_t> live;
  Told told;
  std::uint64_t next_block = (number + std::uint64_t{1}) << 40;
  for (std::uint64_t i = 0; i < calls; ++i) {
    if (wait_for_room && i % 256 == 0) std::this_thread::yield();
    const std::uint64_t ticks = random() % 50 + 1;
    const std::uint64_t key = clock.fetch_add(60) + 60;
    const std::uint64_t caller = 0x400000 + random() % 40 * 16;
    const std::uint64_t dice = random() % 10;
    if (live.empty() || dice < 4) {
      const std::uint64_t size = random() % 500;
      thread.alloc(key, next_block, size, caller, ticks);
      live.push_back(next_block);
      next_block += 512;
      ++told.allocs;
      told.bytes += size;
      told.alloc_ticks += ticks;
    } else if (dice < 8) {
      const std::size_t which = random() % live.size();
      thread.free(key - 1, live[which], caller, ticks);
      live[which] = live.back();
      live.pop_back();
      ++told.frees;
      told.free_ticks += ticks;
    } else {
      const std::size_t which = random() % live.size();
      const std::uint64_t size = random() % 500;
      thread.realloc_begin(key - ticks, live[which], caller);
      thread.realloc_end(BufferKind::kReallocMoved, key, next_block, size, caller, ticks);
      live[which] = next_block;
      next_block += 512;
      ++told.reallocs;
      told.bytes += size;
      told.realloc_ticks += ticks;
    }
    if (number == 0 && i % 500 == 0) {
      const std::uint64_t exit = clock.fetch_add(60) + 60;
      thread.frame(exit - 5, exit);
    }
  }
  return told;
}

class ExactSums : public Recording {
 protected:
  explicit ExactSums(std::uint64_t bytes = 64 << 20) : Recording(microseconds(), bytes) {}

  Told run(std::uint64_t calls, bool wait_for_room) {
    std::atomic<std::uint64_t> clock{100};
    std::atomic<int> running{8};
    std::vector<Told> told(8);
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        FakeThread thread(game_, t + 1);
        told[t] = play(thread, t, clock, calls, wait_for_room);
        running.fetch_sub(1);
      });
    }
    while (running.load() > 0) drain(clock.load());
    for (std::thread& thread : threads) thread.join();
    finish(clock.load() + 1000);
    Told sum;
    for (const Told& one : told) {
      sum.allocs += one.allocs;
      sum.frees += one.frees;
      sum.reallocs += one.reallocs;
      sum.bytes += one.bytes;
      sum.alloc_ticks += one.alloc_ticks;
      sum.free_ticks += one.free_ticks;
      sum.realloc_ticks += one.realloc_ticks;
    }
    return sum;
  }
  std::uint64_t gap_sum(std::uint64_t trace::Gap::*field) const { return out_.sum(field); }
};

TEST_F(ExactSums, EightThreadsWithRoom) {
  const Told told = run(20000, true);
  ASSERT_EQ(out_.sum(&trace::Counters::dropped), 0u);
  EXPECT_EQ(out_.sum(&trace::FrameThread::allocs), told.allocs);
  EXPECT_EQ(out_.sum(&trace::FrameThread::frees), told.frees);
  EXPECT_EQ(out_.sum(&trace::FrameThread::reallocs), told.reallocs);
  EXPECT_EQ(out_.sum(&trace::FrameThread::bytes), told.bytes);
  EXPECT_EQ(out_.sum(&trace::FrameThread::alloc_ticks), told.alloc_ticks);
  EXPECT_EQ(out_.sum(&trace::FrameThread::free_ticks), told.free_ticks);
  EXPECT_EQ(out_.sum(&trace::FrameThread::realloc_ticks), told.realloc_ticks);
  EXPECT_EQ(out_.sum(&trace::FrameSite::allocs), told.allocs);
  EXPECT_EQ(out_.sum(&trace::FrameSite::frees), told.frees);
  EXPECT_EQ(out_.sum(&trace::FrameSite::bytes), told.bytes);
  EXPECT_EQ(out_.sum(&trace::FrameSite::ticks),
            told.alloc_ticks + told.free_ticks + told.realloc_ticks);
  EXPECT_EQ(out_.sum(&trace::Counters::allocs), told.allocs);
  EXPECT_EQ(out_.sum(&trace::Counters::recorded), told.allocs + told.frees + told.reallocs);
  EXPECT_EQ(frames_->blocks().unknown_frees(), 0u);
  EXPECT_EQ(frames_->blocks().implied_frees(), 0u);
  EXPECT_EQ(frames_->blocks().live().count(), told.allocs - told.frees);
}

class ExactSumsUnderPressure : public ExactSums {
 protected:
  ExactSumsUnderPressure() : ExactSums(0) {}  // four chunks for eight threads
};

TEST_F(ExactSumsUnderPressure, WhatIsLostIsCountedToTheLastEvent) {
  const Told told = run(30000, false);
  EXPECT_EQ(out_.sum(&trace::Counters::allocs), told.allocs);
  EXPECT_EQ(out_.sum(&trace::Counters::frees), told.frees);
  EXPECT_EQ(out_.sum(&trace::Counters::reallocs), told.reallocs);
  EXPECT_EQ(out_.sum(&trace::FrameThread::allocs) + out_.sum(&trace::FrameThread::frees) +
                out_.sum(&trace::FrameThread::reallocs),
            out_.sum(&trace::Counters::recorded));
  EXPECT_GT(out_.sum(&trace::Counters::dropped), 0u);
  EXPECT_EQ(gap_sum(&trace::Gap::events), out_.sum(&trace::Counters::dropped));
  EXPECT_EQ(out_.sum(&trace::Counters::recorded) + gap_sum(&trace::Gap::events),
            told.allocs + told.frees + told.reallocs);
  EXPECT_EQ(out_.sum(&trace::FrameThread::bytes) + gap_sum(&trace::Gap::bytes), told.bytes);
}

}  // namespace
}  // namespace hitch::frames
