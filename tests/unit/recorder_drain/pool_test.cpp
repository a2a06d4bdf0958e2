#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "recorder/drain/shared_pool.h"
#include "support/fake_game.h"

namespace hitch::drain {
namespace {

std::unique_ptr<SharedPool> make_pool(std::uint64_t bytes) {
  PoolError error;
  auto pool = SharedPool::create(bytes, error);
  EXPECT_TRUE(pool) << error.what;
  return pool;
}

TEST(SharedPool, IsSealedAgainstResizing) {
  const auto pool = make_pool(8 << 20);
  EXPECT_EQ(fcntl(pool->descriptor(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(ftruncate(pool->descriptor(), 4096), 0);
}

TEST(SharedPool, LiesWithinTheMemoryAskedFor) {
  const auto pool = make_pool(64 << 20);
  const format::PoolGeometry& g = pool->geometry();
  EXPECT_LE(g.total_bytes, 64u << 20);
  EXPECT_EQ(g.chunk_offset(g.slot_count + g.chunk_count) + format::kChunkBytes, g.total_bytes);
  EXPECT_EQ(g.chunk_offset(g.slot_count) + format::kSmallChunkBytes <= g.chunks_offset, true);
  EXPECT_FALSE(g.valid_chunk(0));
  EXPECT_TRUE(g.valid_chunk(1));
  EXPECT_FALSE(g.valid_chunk(g.slot_count + g.chunk_count + 1));
  EXPECT_EQ(pool->header().shed_below, g.chunk_count / 4);
}

TEST(SharedPool, TooLittleMemoryStillGivesAFewChunks) {
  EXPECT_EQ(make_pool(0)->geometry().chunk_count, 4u);
}

TEST(SharedPool, AFileSizeLimitDoesNotCountForTheMemory) {
  const pid_t child = fork();
  if (child == 0) {
    // Soft limit only: every user may lift it. It holds again afterwards.
    const rlimit limit{1000, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    PoolError error;
    const auto pool = SharedPool::create(8 << 20, error);
    rlimit after{};
    getrlimit(RLIMIT_FSIZE, &after);
    _exit(pool && after.rlim_cur == 1000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SharedPool, HandsOutEverySlotAndChunkOnceFirstOnesFirst) {
  const auto pool = make_pool(8 << 20);
  support::FakePool game = support::view_of(&pool->header());
  std::set<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < format::kSlotCount; ++i) {
    support::FakeThread thread(game, i + 1);
    ASSERT_TRUE(thread.attached());
    EXPECT_EQ(thread.slot_index(), i);
    slots.insert(thread.slot_index());
  }
  EXPECT_EQ(slots.size(), format::kSlotCount);
  EXPECT_FALSE(support::FakeThread(game, 9999).attached());
}

TEST(SharedPool, StackSurvivesPopsAndPushesOfManyThreads) {
  const auto pool = make_pool(8 << 20);
  const std::uint32_t first = pool->geometry().slot_count;
  const auto link = [&](std::uint32_t entry) -> std::uint32_t& {
    return pool->chunk_header(first + entry).next_free;
  };
  const std::uint32_t chunks = pool->geometry().chunk_count;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::uint32_t entry = format::pop_free(pool->header().free_chunks, chunks, link);
        if (entry != 0) pool->return_chunk(first + entry);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint32_t> left;
  while (const std::uint32_t entry = format::pop_free(pool->header().free_chunks, chunks, link)) {
    EXPECT_TRUE(left.insert(entry).second);
  }
  EXPECT_EQ(left.size(), chunks);
  EXPECT_EQ(pool->free_chunks(), 0u);
}

}  // namespace
}  // namespace hitch::drain
