// What lies at an address: blocks, the game's own mappings, everything else the process has, and
// which pages were touched before.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>

#include "recorder/resolve/address_space.h"
#include "recorder/resolve/block_ledger.h"
#include "recorder/resolve/mmaps.h"
#include "recorder/resolve/page_history.h"

namespace hitch::resolve {
namespace {

void code_of_this_file() {}

TEST(Holder, IsTheBlockWithTheAddressInIt) {
  BlockLedger ledger(10);
  ledger.allocated(0, 100, 0x10000, {64, 1});
  ledger.allocated(0, 200, 0x20000, {1 << 20, 2});
  ledger.allocated(0, 300, 0x10040, {1008, 3});
  EXPECT_EQ(ledger.holder(0x10000)->block.site, 1u);
  EXPECT_EQ(ledger.holder(0x1003f)->block.site, 1u);
  EXPECT_EQ(ledger.holder(0x10040)->block.site, 3u);
  EXPECT_EQ(ledger.holder(0x10040 + 1007)->block.site, 3u);
  EXPECT_FALSE(ledger.holder(0x10040 + 1008));
  EXPECT_FALSE(ledger.holder(0xffff));
  EXPECT_EQ(ledger.holder(0x20000 + (1 << 20) - 1)->block.site, 2u);
  EXPECT_FALSE(ledger.holder(0x20000 + (1 << 20)));
  EXPECT_EQ(ledger.holder(0x20000)->since, 200u);
  EXPECT_EQ(ledger.holder(0x10000)->since, 0u);  // not remembered of small blocks
}

TEST(Holder, ForgetsWhatWasReleasedOrReplaced) {
  BlockLedger ledger(10);
  LiveBlock block{};
  ledger.allocated(0, 100, 0x20000, {1 << 20, 2});
  EXPECT_TRUE(ledger.released(0, 200, 0x20000, block));
  EXPECT_FALSE(ledger.holder(0x20000 + 5000));
  ledger.allocated(0, 300, 0x20000, {1 << 20, 2});
  ledger.allocated(0, 1000, 0x20000, {100, 4});  // its release was missed
  EXPECT_EQ(ledger.holder(0x20000)->block.site, 4u);
  EXPECT_FALSE(ledger.holder(0x20000 + 5000));
  std::size_t large = 0;
  ledger.for_each_large(BlockLedger::kLargeBytes, [&](const Holder&) { ++large; });
  EXPECT_EQ(large, 0u);
}

TEST(Mmaps, AreCutByWhatIsUnmappedAndMappedOver) {
  Mmaps maps;
  maps.mapped(0x1000, 0x5000, 1);
  maps.unmapped(0x2000, 0x1000);
  ASSERT_NE(maps.find(0x1fff), nullptr);
  EXPECT_EQ(*maps.find(0x1fff), 1u);
  EXPECT_EQ(maps.find(0x2000), nullptr);
  EXPECT_EQ(*maps.find(0x3000), 1u);
  maps.mapped(0x1800, 0x2000, 2);
  EXPECT_EQ(*maps.find(0x17ff), 1u);
  EXPECT_EQ(*maps.find(0x1800), 2u);
  EXPECT_EQ(*maps.find(0x37ff), 2u);
  EXPECT_EQ(*maps.find(0x3800), 1u);
  maps.unmapped(0, 0x10000);
  EXPECT_EQ(maps.find(0x1800), nullptr);
  maps.mapped(0x9000, 0, 3);
  EXPECT_EQ(maps.find(0x9000), nullptr);
}

TEST(PageHistory, KnowsThePagesLastTouch) {
  PageHistory history;
  EXPECT_FALSE(history.touch(0x7f0000001000, 5, 0));
  EXPECT_FALSE(history.touch(0x7f0000002000, 6, 0));
  const auto before = history.touch(0x7f0000001fff, 9, 1);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->key, 5u);
  EXPECT_EQ(before->forks, 0u);
  EXPECT_EQ(history.touch(0x7f0000001000, 12, 1)->forks, 1u);
  EXPECT_FALSE(history.touch(0, 1, 0));  // nothing lives there
  EXPECT_FALSE(history.touch(8, 2, 0));
}

TEST(PageHistory, RemembersAsManyAsItHolds) {
  PageHistory history;
  constexpr std::uint64_t kPages = 100'000;
  for (std::uint64_t i = 1; i <= kPages; ++i) EXPECT_FALSE(history.touch(i << 12, i, 0));
  for (std::uint64_t i = 1; i <= kPages; ++i) {
    const auto before = history.touch(i << 12, kPages + i, 0);
    ASSERT_TRUE(before) << i;
    EXPECT_EQ(before->key, i);
  }
}

TEST(AddressSpace, TellsStacksFilesAndTheRest) {
  const ProcessFiles files(getpid());
  AddressSpace space(files);
  int on_stack = 0;
  const Mapping* mapping = space.at(reinterpret_cast<std::uintptr_t>(&on_stack), 1);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->kind, MappingKind::kStack);
  std::thread([&] {
    int on_threads_stack = 0;
    AddressSpace fresh(files);
    const Mapping* found = fresh.at(reinterpret_cast<std::uintptr_t>(&on_threads_stack), 1);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->kind, MappingKind::kStack);
  }).join();
  mapping = space.at(reinterpret_cast<std::uintptr_t>(&code_of_this_file), 1);
  ASSERT_NE(mapping, nullptr);
  EXPECT_EQ(mapping->kind, MappingKind::kFile);
  EXPECT_NE(mapping->path.find("recorder_resolve_test"), std::string::npos);
  EXPECT_EQ(space.at(8, 1), nullptr);
}

TEST(AddressSpace, LooksAgainForWhatIsNewButNotAllTheTime) {
  const ProcessFiles files(getpid());
  AddressSpace space(files);
  EXPECT_EQ(space.at(8, 1000), nullptr);
  void* memory = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  // A mapping beside another one of the same kind is merged with it, and perhaps known already.
  const Mapping* late = space.at(address, 1100);
  ASSERT_NE(late, nullptr);
  EXPECT_NE(late->kind, MappingKind::kFile);
  EXPECT_EQ(space.at(8, 1105), nullptr);
  munmap(memory, 1 << 16);
}

}  // namespace
}  // namespace hitch::resolve
