#include "viewer/load/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/trace_builder.h"

namespace hitch::load {
namespace {

namespace trace = format::trace;

trace::Events block(std::uint64_t number, std::size_t count) {
  std::vector<format::KeptEvent> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    events[i].key = (number + i) * 100;
    events[i].address = 0x1000 + i * 16;
    events[i].size = 16;
  }
  trace::Events record;
  record.number = number;
  record.count = count;
  record.block = format::encode_events(events, 0);
  return record;
}

struct Seen {
  EventStreamResult result;
  std::uint64_t events = 0;
  std::uint64_t last_key = 0;
  std::vector<std::uint64_t> gaps;
};

Seen read(const std::vector<trace::Events>& blocks, std::uint64_t recorded) {
  support::TraceBuilder builder;
  builder.preamble(0, 1);
  for (const trace::Events& events : blocks) builder.add(events);
  trace::Counters counters;
  counters.recorded = recorded;
  builder.add(counters);
  auto reader = TraceReader::open(from_memory(builder.bytes()));
  Seen seen;
  if (!reader) {
    ADD_FAILURE() << reader.error().sentence();
    return seen;
  }
  seen.result = for_each_event_block(*reader, [&](const EventBlock& block) {
    seen.events += block.events.size();
    seen.gaps.push_back(block.gap);
    if (!block.events.empty()) seen.last_key = block.events.back().key;
  });
  return seen;
}

TEST(EventStream, GoesThroughAllBlocks) {
  const Seen seen = read({block(0, 10), block(10, 5)}, 15);
  EXPECT_EQ(seen.events, 15u);
  EXPECT_EQ(seen.last_key, 1400u);
  EXPECT_EQ(seen.result.events, 15u);
  EXPECT_EQ(seen.result.missing, 0u);
  EXPECT_TRUE(seen.result.warnings.empty());
}

TEST(EventStream, CountsBlocksThatAreLostInTheMiddleAndAtTheEnd) {
  EXPECT_EQ(read({block(0, 10), block(30, 5)}, 35).result.missing, 20u);
  EXPECT_EQ(read({block(0, 10)}, 35).result.missing, 25u);
}

TEST(EventStream, GoesOnBehindADamagedBlock) {
  trace::Events damaged = block(10, 10);
  damaged.block.resize(damaged.block.size() / 2);
  const Seen seen = read({block(0, 10), damaged, block(20, 10)}, 30);
  EXPECT_EQ(seen.last_key, 2900u);
  EXPECT_EQ(seen.result.events + seen.result.missing, 30u);
  ASSERT_EQ(seen.result.warnings.size(), 1u);
  EXPECT_THAT(seen.result.warnings[0], testing::HasSubstr("from number 10 on is damaged"));
}

TEST(EventStream, LeavesOutWhatMakesNoSense) {
  trace::Events absurd = block(10, 10);
  absurd.count = ~std::uint64_t{0};
  const Seen seen = read({block(0, 10), absurd, block(5, 10), block(20, 10)}, 30);
  EXPECT_EQ(seen.result.events, 20u);
  EXPECT_EQ(seen.result.missing, 10u);
  EXPECT_EQ(seen.result.warnings.size(), 2u);
}

}  // namespace
}  // namespace hitch::load
