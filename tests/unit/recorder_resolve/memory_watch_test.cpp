// The watched process is this one.
#include "recorder/resolve/memory_watch.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace hitch::resolve {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class MemoryWatchTest : public ::testing::Test {
 protected:
  // Between pages without access, so that no neighbour joins it.
  void SetUp() override {
    void* room = mmap(nullptr, 18 * kMiB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(room, MAP_FAILED);
    room_ = static_cast<char*>(room);
    mapping_ = room_ + kMiB;
    ASSERT_EQ(mprotect(mapping_, 16 * kMiB, PROT_READ | PROT_WRITE), 0);
  }
  void TearDown() override { munmap(room_, 18 * kMiB); }
  std::uint64_t address(std::uint64_t offset) const {
    return reinterpret_cast<std::uint64_t>(mapping_) + offset;
  }
  void block(std::uint64_t address, std::uint64_t size) {
    LiveBlock previous{};
    live_.insert(address, {size, 0}, previous);
  }

  char* room_ = nullptr;
  char* mapping_ = nullptr;
  LiveBlocks live_;
  ProcessFiles files_{getpid()};
  MemoryWatch watch_{files_};
};

TEST_F(MemoryWatchTest, FindsTheLargestHoleBetweenBlocks) {
  block(address(0x1000), 100);
  block(address(0x2000), 0x1000);
  block(address(5 * kMiB), 200);
  block(address(6 * kMiB), 300);
  const auto sample = watch_.heap(77, live_);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->time, 77u);
  EXPECT_EQ(sample->mappings, 1u);
  EXPECT_EQ(sample->mapped, 16 * kMiB);
  EXPECT_EQ(sample->spanned, 6 * kMiB + 300 - 0x1000);
  EXPECT_EQ(sample->live_bytes, 100u + 0x1000 + 200 + 300);
  EXPECT_EQ(sample->gap_address, address(0x3000));
  EXPECT_EQ(sample->largest_gap, 5 * kMiB - 0x3000);
}

TEST_F(MemoryWatchTest, NoHoleReachesFromOneMappingToAnother) {
  block(address(0x1000), 100);
  void* other = mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  block(reinterpret_cast<std::uint64_t>(other) + 64, 100);  // shared: none of the private mappings
  block(0x1000, 8);                                         // where nothing is mapped
  const auto sample = watch_.heap(1, live_);
  munmap(other, kMiB);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->mappings, 1u);
  EXPECT_EQ(sample->largest_gap, 0u);
}

TEST_F(MemoryWatchTest, WithoutBlocksThereIsNoHeap) { EXPECT_FALSE(watch_.heap(1, live_)); }

TEST_F(MemoryWatchTest, SeesMemoryThatWasTouched) {
  const auto before = watch_.memory(1, live_);
  std::memset(mapping_, 1, 16 * kMiB);
  block(address(0), 5);
  const auto after = watch_.memory(2, live_);
  ASSERT_TRUE(before && after);
  EXPECT_GE(after->resident, before->resident + 12 * kMiB);
  EXPECT_GE(after->private_resident, before->private_resident + 12 * kMiB);
  EXPECT_LE(after->private_resident, after->resident);
  EXPECT_EQ(after->live_blocks, 1u);
  EXPECT_EQ(after->live_bytes, 5u);
}

TEST(MemoryWatch, AProcessThatIsGoneHasNoMemory) {
  const ProcessFiles nobody(0x7ffffffe);
  MemoryWatch watch(nobody);
  LiveBlocks live;
  LiveBlock previous{};
  live.insert(0x1000, {8, 0}, previous);
  EXPECT_FALSE(watch.memory(1, live));
  EXPECT_FALSE(watch.heap(1, live));
}

}  // namespace
}  // namespace hitch::resolve
