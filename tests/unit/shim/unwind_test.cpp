// Rules, their table, and walks over stacks of this test's own.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "unwind/code_map.h"
#include "unwind/rule_table.h"
#include "unwind/walker.h"

namespace hitch::unwind {
namespace {

class RuleTableTest : public ::testing::Test {
 protected:
  std::vector<RuleTable::Word> words_ = std::vector<RuleTable::Word>(RuleTable::kEntries);
  RuleTable table_{words_.data()};
};

TEST_F(RuleTableTest, PacksWhatItUnpacks) {
  for (const std::int32_t cfa : {-5, 1, 2, 4096, kMostCfa, -kMostCfa}) {
    for (const std::int32_t rbp : {0, 2, 513, kMostRbp}) {
      for (const RuleKind kind : {RuleKind::kRsp, RuleKind::kRbp, RuleKind::kRbpDeref}) {
        const Rule rule{kind, cfa, rbp};
        EXPECT_EQ(RuleTable::unpack(RuleTable::pack(rule)), rule);
      }
    }
  }
}

TEST_F(RuleTableTest, FindsExactlyWhatWasInserted) {
  // 40,000 return addresses of a module, and others with the same low bits far away.
  const auto address = [](std::uintptr_t i) {
    return (i % 2 == 0 ? 0x7f1234000000u : 0x55aaaa000000u) + i * 7;
  };
  for (std::uintptr_t i = 0; i < 40'000; ++i)
    table_.insert(address(i), {RuleKind::kRsp, static_cast<std::int32_t>(i % 1000 + 1), 0});
  std::uintptr_t known = 0;
  for (std::uintptr_t i = 0; i < 40'000; ++i) {
    const std::uint64_t word = table_.find(address(i));
    if (RuleTable::kind_of(word) == RuleKind::kNone) continue;  // made room for another
    ++known;
    ASSERT_EQ(RuleTable::unpack(word).cfa, static_cast<std::int32_t>(i % 1000 + 1));
  }
  EXPECT_GT(known, 39'000u);
  for (std::uintptr_t i = 0; i < 40'000; ++i)
    EXPECT_EQ(RuleTable::kind_of(table_.find(address(i) + 1)), RuleKind::kNone);
}

TEST_F(RuleTableTest, ForgetsARangeAndNothingElse) {
  for (std::uintptr_t address = 0x400000; address < 0x410000; address += 16)
    table_.insert(address, {RuleKind::kRsp, 2, 0});
  table_.forget(0x404000, 0x408000);
  for (std::uintptr_t address = 0x400000; address < 0x410000; address += 16) {
    const bool gone = address >= 0x404000 && address < 0x408000;
    EXPECT_EQ(RuleTable::kind_of(table_.find(address)) == RuleKind::kNone, gone) << address;
  }
}

// Each address has one rule for ever: whoever finds it, finds that one.
TEST_F(RuleTableTest, ReadersAndWritersNeverMeetHalfAnEntry) {
  std::atomic<bool> stop{false};
  std::atomic<unsigned> wrong{0};
  const auto address = [](unsigned i) { return 0x7f0000000000u + (std::uintptr_t{i} << 15) + i; };
  const auto work = [&](unsigned seed) {
    unsigned i = seed;
    while (!stop.load(std::memory_order_relaxed)) {
      i = i * 1664525u + 1013904223u;
      const unsigned which = i >> 12 & 0xffff;
      const Rule rule{RuleKind::kRsp, static_cast<std::int32_t>(which + 1), 0};
      if ((i & 0x800) != 0) table_.insert(address(which), rule);
      const std::uint64_t word = table_.find(address(which));
      if (RuleTable::kind_of(word) != RuleKind::kNone && RuleTable::unpack(word) != rule) ++wrong;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i) threads.emplace_back(work, i * 7919);
  for (int i = 0; i < 20; ++i) table_.forget(0x7f0000000000u, 0x7f0010000000u);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

class WalkerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_TRUE(prepare_walker(dlsym(RTLD_DEFAULT, "_dl_find_object")));
  }
  WalkerTest() : memo_(std::make_unique<StackMemo>()) {
    memo_->bounds.reset(top_of_own_stack(true));
  }
  std::unique_ptr<StackMemo> memo_;
};

[[gnu::noinline]] void capture(StackMemo& memo, unsigned depth) {
  const auto* entry = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  walk(memo, reinterpret_cast<std::uintptr_t>(entry + 1), entry[0], depth);
  asm volatile("" : : : "memory");
}
[[gnu::noinline]] int deeper(StackMemo& memo, int levels, unsigned depth) {
  if (levels == 0) {
    capture(memo, depth);
  } else {
    deeper(memo, levels - 1, depth);
  }
  asm volatile("" : : : "memory");
  return levels;
}

TEST_F(WalkerTest, AStackThatRepeatsIsKept) {
  for (int i = 0; i < 3; ++i) {
    deeper(*memo_, 8, 100);
    memo_->recorded = memo_->recorder_count = memo_->count;  // as after writing the record
    if (i == 0) continue;
    // The loop's call is the same instruction each time.
    capture(*memo_, 100);
    EXPECT_GT(memo_->recorded, 2u);
    EXPECT_EQ(memo_->recorded + 1, memo_->count) << "only the call to capture itself is fresh";
    memo_->recorded = memo_->recorder_count = memo_->count;
  }
}

TEST_F(WalkerTest, DeeperCallsAreMoreEntries) {
  deeper(*memo_, 0, 100);
  const unsigned shallow = memo_->count;
  deeper(*memo_, 10, 100);
  EXPECT_EQ(memo_->count, shallow + 10);
  for (unsigned i = 1; i < memo_->count; ++i) EXPECT_LT(memo_->slot[i], memo_->slot[i - 1]);
}

TEST_F(WalkerTest, BeyondTheDepthTheStackIsCut) {
  deeper(*memo_, 40, 20);
  EXPECT_EQ(memo_->count, 21u);
  EXPECT_EQ(memo_->address[0], format::kStackCut);
  EXPECT_EQ(memo_->reusable, 0u);
  // And when most of it is known from the walk before.
  deeper(*memo_, 2, 20);
  deeper(*memo_, 17, 20);
  EXPECT_EQ(memo_->count, 21u);
  EXPECT_EQ(memo_->address[0], format::kStackCut);
}

TEST_F(WalkerTest, AfterALossTheNextStackIsWhole) {
  deeper(*memo_, 5, 100);
  memo_->recorded = memo_->recorder_count = memo_->count;
  memo_->forget();
  deeper(*memo_, 5, 100);
  EXPECT_EQ(memo_->recorded, 0u);
  EXPECT_GT(memo_->count, 5u);
}

TEST(StackBoundsTest, PagesThatCannotBeReadEndAForeignStack) {
  constexpr std::size_t kPage = 4096;
  char* memory = static_cast<char*>(
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const auto base = reinterpret_cast<std::uintptr_t>(memory);
  ASSERT_EQ(mprotect(memory + 3 * kPage, kPage, PROT_NONE), 0);
  EXPECT_TRUE(is_readable(base + 8));
  EXPECT_FALSE(is_readable(base + 3 * kPage));
  StackBounds bounds;
  bounds.reset(top_of_own_stack(true));
  bool foreign = false;
  const std::uintptr_t limit = bounds.limit(base + 100 * 8, foreign);
  EXPECT_TRUE(foreign);
  EXPECT_EQ(limit, base + kPage);
  EXPECT_EQ(StackBounds::extend(limit, base + 2 * kPage + 16), base + 3 * kPage);
  EXPECT_EQ(StackBounds::extend(limit, base + 3 * kPage + 16), limit);
  munmap(memory, 4 * kPage);
}

TEST(StackBoundsTest, TheOwnStackIsKnownToItsTop) {
  StackBounds bounds;
  bounds.reset(top_of_own_stack(true));
  bool foreign = true;
  int local = 0;
  const auto sp = reinterpret_cast<std::uintptr_t>(&local);
  EXPECT_EQ(bounds.limit(sp & ~std::uintptr_t{7}, foreign), top_of_own_stack(true));
  EXPECT_FALSE(foreign);
  std::thread([] {
    StackBounds of_thread;
    of_thread.reset(top_of_own_stack(false));
    bool elsewhere = true;
    int here = 0;
    const auto stack = reinterpret_cast<std::uintptr_t>(&here) & ~std::uintptr_t{7};
    EXPECT_EQ(of_thread.limit(stack, elsewhere), top_of_own_stack(false));
    EXPECT_FALSE(elsewhere);
  }).join();
}

TEST(CodeMapTest, WithoutFindObjectTheNotedModulesServe) {
  void* find_object = dlsym(RTLD_DEFAULT, "_dl_find_object");
  ModuleImage known;
  const auto pc = reinterpret_cast<std::uintptr_t>(&std::abort);
  use_find_object(find_object);
  ASSERT_TRUE(find_module(pc, known));
  use_find_object(nullptr);
  ModuleImage module;
  EXPECT_FALSE(find_module(pc, module));
  note_module(known.start, known.end, known.eh_frame_hdr);
  ASSERT_TRUE(find_module(pc, module));
  EXPECT_EQ(module.eh_frame_hdr, known.eh_frame_hdr);
  forget_module(known.start);
  EXPECT_FALSE(find_module(pc, module));
  use_find_object(find_object);
}

// Whatever an unwind table claims, nothing outside its module is read.
TEST(CfiTest, DamagedTablesGiveNoRuleAndDoNoHarm) {
  ModuleImage libc;
  use_find_object(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&std::abort), libc));
  // A page at the end of which the header lies, followed by nothing that can be read.
  constexpr std::size_t kPage = 4096;
  char* memory = static_cast<char*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + kPage, kPage, PROT_NONE), 0);
  const auto base = reinterpret_cast<std::uintptr_t>(memory);
  unsigned seed = 1;
  for (int round = 0; round < 20'000; ++round) {
    auto* bytes = reinterpret_cast<unsigned char*>(memory);
    const unsigned char header[] = {1, 0x1b, 0x03, 0x3b};
    for (unsigned i = 0; i < 256; ++i) {
      seed = seed * 1664525u + 1013904223u;
      bytes[kPage - 256 + i] = static_cast<unsigned char>(seed >> 24);
    }
    std::copy(std::begin(header), std::end(header), bytes + kPage - 256);
    bytes[kPage - 256 + 8] = static_cast<unsigned char>(seed >> 16 & 31);  // a plausible count
    bytes[kPage - 256 + 9] = bytes[kPage - 256 + 10] = bytes[kPage - 256 + 11] = 0;
    const Rule rule = rule_at({base, base + kPage, base + kPage - 256}, base + seed % kPage);
    EXPECT_NE(rule.kind, RuleKind::kNone);
  }
  munmap(memory, 2 * kPage);
}

}  // namespace
}  // namespace hitch::unwind
