// Texts, stacks, threads, heaps.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "format/buffer_records.h"
#include "recorder/resolve/heaps.h"
#include "recorder/resolve/stacks.h"
#include "recorder/resolve/texts.h"
#include "recorder/resolve/threads.h"
#include "support/record_list.h"

namespace hitch::resolve {
namespace {

namespace trace = format::trace;

TEST(Texts, AreInternedFromOne) {
  support::RecordList out;
  Texts texts(out);
  EXPECT_EQ(texts.id("physics"), 1u);
  EXPECT_EQ(texts.id("render"), 2u);
  EXPECT_EQ(texts.id("physics"), 1u);
  EXPECT_EQ(out.all<trace::Text>().size(), 2u);
  EXPECT_EQ(texts.text(2), "render");
  EXPECT_EQ(texts.text(0), "");
}

TEST(Texts, BytesThatAreNotUtf8BecomeQuestionMarks) {
  EXPECT_EQ(clean_utf8("Gr\xc3\xbc\xc3\x9f"
                       "e"),
            "Gr\xc3\xbc\xc3\x9f"
            "e");
  EXPECT_EQ(clean_utf8("\xe2\x82\xac \xf0\x9f\x8e\xae"), "\xe2\x82\xac \xf0\x9f\x8e\xae");
  EXPECT_EQ(clean_utf8("a\xff"
                       "b"),
            "a?b");
  EXPECT_EQ(clean_utf8("\xc3"), "?");
  EXPECT_EQ(clean_utf8("\xc0\xaf"), "??");       // overlong
  EXPECT_EQ(clean_utf8("\xed\xa0\x80"), "???");  // a surrogate
}

class StacksTest : public testing::Test {
 protected:
  Stacks::Node path(std::initializer_list<std::uint64_t> outermost_first) {
    Stacks::Node node = 0;
    for (const std::uint64_t address : outermost_first) node = stacks_.child(node, address);
    return node;
  }
  support::RecordList out_;
  ProcessFiles process_{getpid()};
  Modules modules_{out_, process_};
  Stacks stacks_{out_, modules_};
};

TEST_F(StacksTest, AreWrittenOnceInnermostFirst) {
  EXPECT_EQ(stacks_.id_plus_one(0, 0, 0), 0u);
  EXPECT_EQ(stacks_.id_plus_one(path({0x30, 0x20, 0x10}), 0, 0), 1u);
  EXPECT_EQ(stacks_.id_plus_one(path({0x30, 0x20}), 0, 0), 2u);
  EXPECT_EQ(stacks_.id_plus_one(path({0x30, 0x20, 0x10}), 0, 0), 1u);
  const auto written = out_.all<trace::Stack>();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].addresses, (std::vector<std::uint64_t>{0x10, 0x20, 0x30}));
  EXPECT_EQ(written[0].modules, (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(written[0].flags, 0u);
}

TEST_F(StacksTest, MarkersBecomeFlags) {
  stacks_.id_plus_one(path({format::kStackCut, 0x20}), 0, 0);
  stacks_.id_plus_one(path({format::kStackTruncated, 0x20}), 0, 0);
  const auto written = out_.all<trace::Stack>();
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].addresses, std::vector<std::uint64_t>{0x20});
  EXPECT_EQ(written[0].flags, 2u);
  EXPECT_EQ(written[1].flags, 4u);
}

TEST_F(StacksTest, ManyNodesStayApart) {
  std::vector<Stacks::Node> nodes;
  for (std::uint64_t i = 0; i < 20'000; ++i) nodes.push_back(path({0x100 + i % 7, 0x1000 + i * 5}));
  EXPECT_EQ(stacks_.nodes(), 7u + 20'000);
  for (std::uint64_t i = 0; i < 20'000; ++i)
    ASSERT_EQ(path({0x100 + i % 7, 0x1000 + i * 5}), nodes[i]);
}

TEST_F(StacksTest, OfCodeThatIsGoneGetNewNodes) {
  const Stacks::Node gone = path({0x30, 0x1010, 0x20});
  const Stacks::Node stays = path({0x30, 0x20});
  stacks_.forget({0x1000, 0x2000});
  EXPECT_TRUE(stacks_.is_forgotten(gone));
  EXPECT_NE(path({0x30, 0x1010, 0x20}), gone);
  EXPECT_EQ(path({0x30, 0x20}), stays);
}

TEST(Threads, AreSeenLivingRenamedAndDead) {
  support::RecordList out;
  const ProcessFiles process(getpid());
  Threads threads(out, process, false);
  std::atomic<pid_t> tid{0};
  std::atomic<int> step{0};
  std::thread worker([&] {
    tid = static_cast<pid_t>(syscall(SYS_gettid));
    while (step.load() == 0) std::this_thread::yield();
    pthread_setname_np(pthread_self(), "loader");
    step = 2;
    while (step.load() == 2) std::this_thread::yield();
  });
  while (tid.load() == 0) std::this_thread::yield();
  const auto id = static_cast<std::uint32_t>(tid.load());
  threads.started(0, id, 5);
  threads.look();
  EXPECT_TRUE(threads.is_alive(id));
  step = 1;
  while (step.load() != 2) std::this_thread::yield();
  threads.refresh_names();
  threads.refresh_names();
  EXPECT_EQ(threads.name(0), "loader");
  step = 3;
  worker.join();
  // The kernel removes the entry a moment after join.
  for (int i = 0; i < 1000 && process.thread_exists(tid); ++i) usleep(1000);
  threads.look();
  EXPECT_FALSE(threads.is_alive(id));
  const auto& records = out.all<trace::Thread>();
  ASSERT_EQ(records.size(), 2u);  // first sight, and the new name
  EXPECT_EQ(records[0].tid, id);
  EXPECT_EQ(records[0].started, 5u);
  EXPECT_EQ(records[1].name, "loader");
}

TEST(Threads, IdsAreTranslatedThroughThePidNamespace) {
  support::RecordList out;
  const ProcessFiles process(getpid());
  EXPECT_NE(process.id_inside(getpid()), 0u);
  Threads threads(out, process, true);
  threads.look();
  EXPECT_TRUE(threads.is_alive(process.id_inside(getpid())));
}

TEST(Heaps, HaveMapsOfTheirOwn) {
  support::RecordList out;
  Texts texts(out);
  Heaps heaps(out, texts, 100);
  heaps.define(5, 0, "level");
  heaps.define(9, 6, "particles");
  heaps.define(5, 0, "level again");
  ASSERT_EQ(out.all<trace::Heap>().size(), 2u);
  EXPECT_EQ(heaps.id(9), 1u);
  EXPECT_EQ(out.all<trace::Heap>()[1].parent, 1u);
  heaps.ledger(0).allocated(1, 1, 0x1000, {10, 0});
  heaps.ledger(0).allocated(1, 2, 0x2000, {20, 0});
  EXPECT_EQ(heaps.ledger(1).live().count(), 0u);
  EXPECT_EQ(heaps.reset(0), 2u);
  EXPECT_EQ(heaps.ledger(0).live().bytes(), 0u);
  // One whose definition was lost.
  EXPECT_EQ(heaps.id(77), 2u);
  EXPECT_EQ(texts.text(out.all<trace::Heap>()[2].name), "heap 77");
}

}  // namespace
}  // namespace hitch::resolve
