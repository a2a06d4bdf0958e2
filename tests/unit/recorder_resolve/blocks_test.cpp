#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "recorder/resolve/block_ledger.h"
#include "recorder/resolve/live_blocks.h"

namespace hitch::resolve {
namespace {

TEST(LiveBlocks, BehavesLikeAMapThroughGrowthAndDeletion) {
  LiveBlocks blocks(4);
  std::unordered_map<std::uint64_t, LiveBlock> expected;
  std::mt19937_64 random(3);
  std::uint64_t bytes = 0;
  for (int i = 0; i < 300000; ++i) {
    const std::uint64_t address = 0x7f0000000000 + random() % 20000 * 16;
    LiveBlock got{};
    if (random() % 2 == 0) {
      const LiveBlock block{random() % 100000, static_cast<std::uint32_t>(random() % 0xffffff)};
      const auto known = expected.find(address);
      ASSERT_EQ(blocks.insert(address, block, got), known != expected.end());
      if (known != expected.end()) {
        ASSERT_EQ(got.size, known->second.size);
        ASSERT_EQ(got.site, known->second.site);
        bytes -= got.size;
      }
      bytes += block.size;
      expected[address] = block;
    } else {
      const auto known = expected.find(address);
      ASSERT_EQ(blocks.erase(address, got), known != expected.end());
      if (known != expected.end()) {
        ASSERT_EQ(got.size, known->second.size);
        bytes -= got.size;
        expected.erase(known);
      }
    }
  }
  EXPECT_EQ(blocks.count(), expected.size());
  EXPECT_EQ(blocks.bytes(), bytes);
  for (const auto& [address, block] : expected) {
    LiveBlock got{};
    ASSERT_TRUE(blocks.find(address, got));
    EXPECT_EQ(got.site, block.site);
  }
  blocks.clear();
  EXPECT_EQ(blocks.count(), 0u);
  LiveBlock got{};
  EXPECT_FALSE(blocks.find(expected.begin()->first, got));
}

TEST(LiveBlocks, HoldsTheWidestBlock) {
  LiveBlocks blocks;
  LiveBlock got{};
  const std::uint64_t top = (std::uint64_t{1} << 48) - 8;
  blocks.insert(top, {(std::uint64_t{1} << 40) - 1, 0xffffff}, got);
  ASSERT_TRUE(blocks.erase(top, got));
  EXPECT_EQ(got.size, (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(got.site, 0xffffffu);
  blocks.insert(top, {~std::uint64_t{0}, 1}, got);  // nonsense of a broken game
  blocks.erase(top, got);
  EXPECT_EQ(blocks.bytes(), 0u);
}

constexpr std::uint64_t kWindow = 1000;
constexpr std::uint64_t kBlock = 0x5000;

class Ledger : public ::testing::Test {
 protected:
  bool is_live() {
    LiveBlock block{};
    return ledger_.live().find(kBlock, block);
  }
  std::uint64_t live_size() {
    LiveBlock block{};
    ledger_.live().find(kBlock, block);
    return block.size;
  }
  BlockLedger ledger_{kWindow};
  LiveBlock block_{};
};

TEST_F(Ledger, AReleaseReportedAfterAnotherThreadGotTheBlock) {
  ledger_.allocated(1, 100, kBlock, {10, 0});
  ledger_.allocated(2, 5000, kBlock, {20, 0});
  EXPECT_EQ(ledger_.implied_frees(), 1u);
  ledger_.released(1, 5500, kBlock, block_);  // meant the block of 10
  EXPECT_TRUE(is_live());
  EXPECT_EQ(live_size(), 20u);
  EXPECT_EQ(ledger_.inversions(), 1u);
  EXPECT_EQ(ledger_.implied_frees(), 0u);
  EXPECT_TRUE(ledger_.released(2, 6000, kBlock, block_));
  EXPECT_EQ(block_.size, 20u);
}

TEST_F(Ledger, AReleaseReportedBeforeItsAllocation) {
  ledger_.released(2, 5000, kBlock, block_);
  EXPECT_EQ(ledger_.unknown_frees(), 1u);
  ledger_.allocated(1, 5400, kBlock, {10, 0});
  EXPECT_FALSE(is_live());
  EXPECT_EQ(ledger_.inversions(), 1u);
  EXPECT_EQ(ledger_.unknown_frees(), 0u);
}

TEST_F(Ledger, BeyondTheWindowNothingIsRepaired) {
  ledger_.allocated(1, 100, kBlock, {10, 0});
  ledger_.allocated(2, 5000, kBlock, {20, 0});
  EXPECT_TRUE(ledger_.released(1, 5000 + kWindow + 1, kBlock, block_));
  EXPECT_FALSE(is_live());
  EXPECT_EQ(ledger_.implied_frees(), 1u);
  EXPECT_EQ(ledger_.inversions(), 0u);
  ledger_.released(2, 8000, kBlock, block_);
  ledger_.allocated(1, 8000 + kWindow + 1, kBlock, {10, 0});
  EXPECT_TRUE(is_live());
  EXPECT_EQ(ledger_.unknown_frees(), 1u);
}

TEST_F(Ledger, OneThreadsOwnRecordsAreNeverInverted) {
  // A block from before the recording is released and at once allocated again.
  ledger_.released(1, 5000, kBlock, block_);
  ledger_.allocated(1, 5010, kBlock, {10, 0});
  EXPECT_TRUE(is_live());
  EXPECT_EQ(ledger_.unknown_frees(), 1u);
  EXPECT_EQ(ledger_.inversions(), 0u);
}

TEST_F(Ledger, FailedAllocationsAreNoBlocks) {
  ledger_.allocated(1, 10, 0, {10, 0});
  ledger_.allocated(1, 20, 0, {10, 0});
  EXPECT_EQ(ledger_.live().count(), 0u);
  EXPECT_EQ(ledger_.implied_frees(), 0u);
}

}  // namespace
}  // namespace hitch::resolve
