#include "recorder/frames/event_keeper.h"

#include <gtest/gtest.h>

#include "support/record_list.h"

namespace hitch::frames {
namespace {

namespace trace = format::trace;

class EventKeeperTest : public ::testing::Test {
 protected:
  std::vector<format::KeptEvent> kept() {
    std::vector<format::KeptEvent> events;
    for (const trace::Events& block : out_.all<trace::Events>())
      EXPECT_TRUE(format::decode_events(block.block, events));
    return events;
  }
  static format::KeptEvent release(std::uint64_t key) {
    format::KeptEvent event;
    event.key = key;
    event.kind = format::EventKind::kFree;
    event.op = format::Op::kFree;
    return event;
  }
  support::RecordList out_;
  int named_ = 0;
  EventKeeper keeper_{out_, 1'000'000, [this] { ++named_; }};
};

TEST_F(EventKeeperTest, DurationsOfReleasesMayComeLater) {
  const std::uint64_t first = keeper_.add(release(10));
  const std::uint64_t second = keeper_.add(release(20));
  keeper_.set_ticks(second, 7);
  keeper_.set_ticks(first, 5);
  keeper_.flush();
  EXPECT_EQ(kept()[0].ticks, 5u);
  EXPECT_EQ(kept()[1].ticks, 7u);
}

TEST_F(EventKeeperTest, ADurationThatComesAfterTheBlockIsNotKnown) {
  const std::uint64_t first = keeper_.add(release(10));
  keeper_.flush();
  keeper_.add(release(20));
  keeper_.set_ticks(first, 5);
  keeper_.flush();
  ASSERT_EQ(kept().size(), 2u);
  EXPECT_EQ(kept()[0].ticks, 0u);
  EXPECT_EQ(kept()[1].ticks, 0u);
  EXPECT_EQ(out_.all<trace::Events>()[1].number, 1u);
}

TEST_F(EventKeeperTest, BlocksAreWrittenWhenTheyAreFullOrOld) {
  for (std::size_t i = 0; i <= format::kMostBlockEvents; ++i) keeper_.add(release(i));
  EXPECT_EQ(out_.all<trace::Events>().size(), 1u);
  EXPECT_EQ(named_, 1);
  keeper_.tick(10'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 2u);
  keeper_.add(release(~std::uint64_t{0} >> 8));
  keeper_.tick(11'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 2u);
  keeper_.tick(12'000);
  EXPECT_EQ(out_.all<trace::Events>().size(), 3u);
  EXPECT_EQ(named_, 3);
}

}  // namespace
}  // namespace hitch::frames
