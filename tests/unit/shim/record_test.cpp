// What the hooks' bodies leave in shared memory, read back by the recorder's own drainer.
#include <gtest/gtest.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "recorded_process.h"

namespace hitch::testing {
namespace {

using format::BufferKind;
using format::Op;

TEST(Record, AllocationAndReleaseCarrySizeBlockAndCallSite) {
  RecordedProcess process;
  void* block = traced_malloc(100);
  traced_release(block);
  const Collector& got = process.finish();
  ASSERT_EQ(got.events.size(), 3u);  // thread start, allocation, release
  const drain::Event& alloc = got.events[1];
  EXPECT_EQ(alloc.kind, BufferKind::kAlloc);
  EXPECT_EQ(alloc.op, Op::kMalloc);
  EXPECT_EQ(alloc.size, 100u);
  EXPECT_EQ(alloc.block, reinterpret_cast<std::uint64_t>(block));
  EXPECT_EQ(alloc.caller, 0x1234u);
  EXPECT_GT(alloc.ticks, 0u);
  const drain::Event& release = got.events[2];
  EXPECT_EQ(release.kind, BufferKind::kFree);
  EXPECT_EQ(release.block, alloc.block);
  EXPECT_EQ(release.caller, 0x5678u);
  EXPECT_GE(release.key, alloc.key);
  EXPECT_EQ(got.total.allocs, 1u);
  EXPECT_EQ(got.total.frees, 1u);
  EXPECT_EQ(got.total.alloc_bytes, 100u);
}

TEST(Record, DurationOfAReleaseRidesInTheNextRecord) {
  RecordedProcess process;
  traced_release(traced_malloc(8));
  traced_release(traced_malloc(8));
  const Collector& got = process.finish();
  ASSERT_EQ(got.events.size(), 5u);
  EXPECT_EQ(got.events[1].previous_free_ticks, 0u);
  EXPECT_EQ(got.events[2].previous_free_ticks, 0u);
  EXPECT_GT(got.events[3].previous_free_ticks, 0u);
  EXPECT_EQ(got.events[4].previous_free_ticks, 0u);
}

TEST(Record, EveryOutcomeOfRealloc) {
  RecordedProcess process;
  void* block = traced_malloc(64);
  // Outcomes are forced: the real function is the test's.
  void* other = std::malloc(128);
  record::traced_realloc(block, 64, 0, [block] { return block; });
  record::traced_realloc(block, 1, 0, []() -> void* { return nullptr; });
  record::traced_realloc(block, 128, 0, [other] { return other; });
  record::traced_realloc(other, 0, 0, []() -> void* { return nullptr; });
  std::free(block);
  std::free(other);
  const Collector& got = process.finish();
  EXPECT_EQ(got.count(BufferKind::kReallocBegin), 4u);
  EXPECT_EQ(got.count(BufferKind::kReallocInPlace), 1u);
  EXPECT_EQ(got.count(BufferKind::kReallocFailed), 1u);
  EXPECT_EQ(got.count(BufferKind::kReallocMoved), 1u);
  EXPECT_EQ(got.count(BufferKind::kReallocFreed), 1u);
  EXPECT_EQ(got.total.reallocs, 4u);
}

TEST(Record, SizesBeyond32BitsKeepTheirValue) {
  RecordedProcess process;
  const std::size_t huge = (std::size_t{1} << 33) + 5;
  record::traced_alloc(Op::kCalloc, huge, 1, []() -> void* { return nullptr; });
  const Collector& got = process.finish();
  ASSERT_EQ(got.count(BufferKind::kAllocWide), 1u);
  EXPECT_EQ(got.events.back().size, huge);
  EXPECT_EQ(got.events.back().op, Op::kCalloc);
}

TEST(Record, CallsNestedInAHookAreCountedButNotRecorded) {
  RecordedProcess process;
  // A signal handler that interrupts the real malloc and allocates.
  void* inner = nullptr;
  void* outer = record::traced_alloc(Op::kMalloc, 10, 1, [&inner] {
    inner = traced_malloc(20);
    return std::malloc(10);
  });
  traced_release(inner);
  traced_release(outer);
  const Collector& got = process.finish();
  EXPECT_EQ(got.count(BufferKind::kAlloc), 1u);
  EXPECT_EQ(got.total.allocs, 2u);
  EXPECT_EQ(got.total.alloc_bytes, 30u);
  EXPECT_EQ(got.total.nested_calls, 1u);
}

std::jmp_buf g_way_out;

[[gnu::noinline]] void* interrupted_malloc() {
  return record::traced_alloc(Op::kMalloc, 1, 1, []() -> void* { std::longjmp(g_way_out, 1); });
}

[[gnu::noinline]] void allocate_deeper(unsigned depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  if (depth > 0) {
    allocate_deeper(depth - 1);
  } else {
    traced_release(traced_malloc(8));
  }
  frame[1] = frame[0];
}

TEST(Record, AScopeLeftByLongjmpDoesNotSilenceTheThread) {
  RecordedProcess process;
  if (setjmp(g_way_out) == 0) interrupted_malloc();
  for (int i = 0; i < 10; ++i) traced_release(traced_malloc(8));
  const Collector& got = process.finish();
  EXPECT_EQ(got.total.abandoned_calls, 1u);
  EXPECT_EQ(got.count(BufferKind::kAlloc), 10u);
  EXPECT_EQ(got.count(BufferKind::kFree), 10u);
}

TEST(Record, NorWhenAllLaterCallsComeFromDeeperInTheStack) {
  RecordedProcess process;
  if (setjmp(g_way_out) == 0) interrupted_malloc();
  for (int i = 0; i < 10; ++i) allocate_deeper(20);
  const Collector& got = process.finish();
  EXPECT_EQ(got.total.abandoned_calls, 1u);
  EXPECT_EQ(got.count(BufferKind::kAlloc), 10u);
}

TEST(Record, OwnWorkIsNeitherCountedNorRecorded) {
  RecordedProcess process;
  traced_release(traced_malloc(8));
  {
    const record::HookScope scope(*record::hitch_thread_state);
    const record::OwnWork own(scope);
    traced_release(traced_malloc(8));
  }
  const Collector& got = process.finish();
  EXPECT_EQ(got.total.allocs, 1u);
  EXPECT_EQ(got.total.nested_calls, 0u);
}

TEST(Record, WithoutFreeChunksEveryLossIsCountedAndSumsStayExact) {
  RecordedProcess process({.pool_bytes = 4 * format::kChunkBytes});
  constexpr unsigned kPairs = 20000;
  for (unsigned i = 0; i < kPairs; ++i) traced_release(traced_malloc(16));
  process.drainer().drain();
  // Room again: what follows is recorded.
  for (unsigned i = 0; i < 10; ++i) traced_release(traced_malloc(16));
  const Collector& got = process.finish();
  const std::uint64_t recorded = got.count(BufferKind::kAlloc) + got.count(BufferKind::kFree);
  EXPECT_GT(got.lost, 0u);
  EXPECT_EQ(recorded + got.lost, 2 * (kPairs + 10));
  EXPECT_EQ(got.total.allocs, kPairs + 10);
  EXPECT_EQ(got.total.frees, kPairs + 10);
  EXPECT_EQ(got.total.alloc_bytes, 16u * (kPairs + 10));
  EXPECT_EQ(got.count(BufferKind::kGapEnd), 1u);
}

TEST(Record, LevelCountFlushesAtTheFirstCallOfANewEpoch) {
  RecordedProcess process({.level = format::Level::kCount});
  for (unsigned i = 0; i < 5; ++i) traced_release(traced_malloc(10));
  process.pool().header().frame_epoch.fetch_add(1);
  void* second = traced_malloc(1);
  process.pool().header().frame_epoch.fetch_add(1);
  void* third = traced_malloc(1);
  const Collector& got = process.finish();
  std::free(second);
  std::free(third);
  EXPECT_EQ(got.count(BufferKind::kAlloc), 0u);
  ASSERT_EQ(got.count(BufferKind::kFlush), 2u);
  format::FlushRecord flushes[2];
  unsigned n = 0;
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    if (got.events[i].kind != BufferKind::kFlush) continue;
    ASSERT_EQ(got.words[i].size(), sizeof flushes[0] / 8);
    std::memcpy(&flushes[n++], got.words[i].data(), sizeof flushes[0]);
  }
  EXPECT_EQ(flushes[0].epoch + 1, flushes[1].epoch);
  EXPECT_EQ(flushes[0].allocs, 5u);
  EXPECT_EQ(flushes[0].frees, 5u);
  EXPECT_EQ(flushes[0].bytes, 50u);
  EXPECT_EQ(flushes[1].allocs, 1u);
  EXPECT_EQ(got.total.allocs, 7u);
}

// A signal between taking the guard and noting what it points to: the hook is alive.
TEST(Record, AHookThatHasOnlyJustBegunIsNotTakenForOneThatWasLeft) {
  RecordedProcess process;
  traced_release(traced_malloc(8));
  record::ThreadState& state = *record::hitch_thread_state;
  {
    const record::HookScope scope(state);
    state.guard_return = 0;
    const std::uintptr_t guard = state.guard;
    traced_release(traced_malloc(16));
    EXPECT_EQ(state.guard, guard);
  }
  const Collector& got = process.finish();
  EXPECT_EQ(got.total.nested_calls, 2u);
  EXPECT_EQ(got.total.abandoned_calls, 0u);
}

// A signal between a release's look at the room and its taking the guard: the handler's hooks fill
// the chunk, and the release writes all the same.
TEST(Record, AReleaseWhoseRoomWasTakenStaysInItsChunk) {
  RecordedProcess process;
  traced_release(traced_malloc(8));
  record::ThreadState& state = *record::hitch_thread_state;
  {
    const record::HookScope scope(state);
    const std::uint64_t tag[2] = {format::make_head(BufferKind::kTagPush, 1), 1};
    while (state.write + 2 <= state.end) ASSERT_TRUE(record::append(scope, tag, 2));
    record::write_release(state, format::make_head(BufferKind::kFree, format::Op::kFree, 2),
                          nullptr, 0x5678);
  }
  for (int i = 0; i < 3; ++i) traced_release(traced_malloc(8));
  const Collector& got = process.finish();
  EXPECT_EQ(process.drainer().malformed(), 0u);
  EXPECT_EQ(got.count(BufferKind::kFree), 1u + 1u + 3u);
}

TEST(Record, UntimedModesRecordWithoutDurations) {
  for (const format::TimeMode mode : {format::TimeMode::kNone, format::TimeMode::kAlloc}) {
    RecordedProcess process({.time = mode});
    traced_release(traced_malloc(8));
    traced_release(traced_malloc(8));
    const Collector& got = process.finish();
    ASSERT_EQ(got.events.size(), 5u);
    EXPECT_EQ(got.events[1].ticks != 0, mode == format::TimeMode::kAlloc);
    EXPECT_EQ(got.events[3].previous_free_ticks, 0u);
    EXPECT_GE(got.events[2].key, got.events[1].key);
  }
}

TEST(Record, WithoutAnInvariantTscTheMonotonicClockServes) {
  RecordedProcess process;
  process.pool().header().clock_kind = static_cast<std::uint32_t>(format::ClockKind::kMonotonicRaw);
  process.pool().header().tsc_base = base::read_monotonic_raw();
  traced_release(traced_malloc(8));
  const std::uint64_t elapsed = base::read_monotonic_raw() - process.pool().header().tsc_base;
  const Collector& got = process.finish();
  ASSERT_EQ(got.events.size(), 3u);
  EXPECT_EQ(got.events[1].kind, BufferKind::kAlloc);
  EXPECT_LE(got.events[1].key, elapsed);
  EXPECT_LE(got.events[1].ticks, elapsed);
  EXPECT_GE(got.events[2].key, got.events[1].key);
}

TEST(Record, SlowCallsBecomeOutliers) {
  RecordedProcess process({.outlier_ticks = 1});
  traced_release(traced_malloc(48));
  const Collector& got = process.finish();
  ASSERT_EQ(got.count(BufferKind::kOutlier), 2u);
  for (std::size_t i = 0; i < got.events.size(); ++i) {
    if (got.events[i].kind != BufferKind::kOutlier) continue;
    format::OutlierRecord outlier;
    std::memcpy(&outlier, got.words[i].data(), sizeof outlier);
    EXPECT_GT(outlier.duration, 0u);
    EXPECT_EQ(outlier.size, 48u);
    EXPECT_EQ(outlier.caller_op & format::kAddressMask, 0x1234u);
    break;
  }
}

TEST(Record, AWipedChildStaysSilentAndTouchesNothing) {
  RecordedProcess process;
  traced_release(traced_malloc(8));
  process.wipe();
  traced_release(traced_malloc(8));
  traced_release(traced_resize(traced_malloc(8), 100));
  EXPECT_EQ(record::hitch_thread_state, nullptr);
  const Collector& got = process.finish();
  EXPECT_EQ(got.total.allocs, 1u);
  EXPECT_EQ(process.pool().header().homeless_allocs.load(), 0u);
}

TEST(Record, MoreThreadsThanSlotsAreCountedTogether) {
  RecordedProcess process;
  while (process.pool().header().free_slots.count.load() > 0) {
    ASSERT_NE(format::pop_free(process.pool().header().free_slots, format::kSlotCount,
                               [&](std::uint32_t e) -> std::uint32_t& {
                                 return process.pool().slot(e - 1).next_free;
                               }),
              0u);
  }
  traced_release(traced_malloc(8));
  EXPECT_EQ(process.pool().header().homeless_allocs.load(), 1u);
  EXPECT_EQ(process.pool().header().homeless_frees.load(), 1u);
  EXPECT_EQ(process.pool().header().homeless_bytes.load(), 8u);
}

TEST(Record, EightThreadsAgainstARunningDrainerLoseNothing) {
  RecordedProcess process({.pool_bytes = 32 << 20});
  constexpr unsigned kThreads = 8;
  constexpr unsigned kPairs = 20000;
  std::atomic<unsigned> running{kThreads};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&running] {
      void* kept[16] = {};
      for (unsigned i = 0; i < kPairs; ++i) {
        void*& block = kept[i % 16];
        if (block != nullptr) traced_release(block);
        block = traced_malloc(i % 200);
      }
      for (void* block : kept) traced_release(block);
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) process.drainer().drain();
  for (std::thread& thread : threads) thread.join();
  const Collector& got = process.finish();
  EXPECT_EQ(got.lost, 0u);
  EXPECT_EQ(got.total.allocs, kThreads * kPairs);
  EXPECT_EQ(got.total.frees, kThreads * kPairs);
  EXPECT_EQ(got.count(BufferKind::kAlloc), kThreads * kPairs);
  EXPECT_EQ(got.count(BufferKind::kFree), kThreads * kPairs);
}

}  // namespace
}  // namespace hitch::testing
