// Kept events come back as they went in, whatever they are; bytes that are no block do no harm.
#include "format/event_block.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace hitch::format {
namespace {

constexpr unsigned kShift = 3;

std::vector<KeptEvent> rounded(std::vector<KeptEvent> events) {
  for (KeptEvent& event : events) {
    event.key = event.key >> kShift << kShift;
    event.ticks = event.ticks >> kShift << kShift;
  }
  return events;
}

void expect_round_trip(const std::vector<KeptEvent>& events) {
  const std::string bytes = encode_events(events, kShift);
  std::vector<KeptEvent> back;
  ASSERT_TRUE(decode_events(bytes, back));
  const std::vector<KeptEvent> wanted = rounded(events);
  ASSERT_EQ(back.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(back[i], wanted[i]) << i;
}

// A heap as games use it: several threads, addresses used again, blocks freed elsewhere.
std::vector<KeptEvent> heap_like(unsigned seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<KeptEvent> events;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  std::map<std::uint64_t, std::vector<std::uint64_t>> free_lists;
  std::uint64_t key = 1'000'000;
  std::uint64_t fresh = 0x7f0000001000;
  while (events.size() < count) {
    KeptEvent event;
    key += random() % 900;
    event.key = key - random() % 50;  // another thread's may lie a little before
    event.ticks = random() % 60 == 0 ? random() % 5'000'000 : random() % 90;
    event.thread = static_cast<std::uint32_t>(random() % 100 < 95 ? 0 : random() % 9);
    event.site =
        static_cast<std::uint32_t>(random() % 10 < 7 ? events.size() % 12 : random() % 5000);
    const std::uint64_t what = random() % 100;
    if (what < 52 || live.empty()) {
      event.op = Op::kNew;
      event.size = 16u << (random() % 8) << (random() % 200 == 0 ? 12 : 0);
      std::vector<std::uint64_t>& list = free_lists[event.size];
      if (!list.empty()) {
        event.address = list.back();
        list.pop_back();
      } else {
        event.address = fresh;
        fresh += event.size;
      }
      live.emplace_back(event.address, event.size);
    } else if (what < 97) {
      event.kind = EventKind::kFree;
      event.op = what % 2 == 0 ? Op::kFree : Op::kDelete;
      const std::size_t which = random() % 3 == 0 ? random() % live.size() : live.size() - 1;
      event.address = live[which].first;
      free_lists[live[which].second].push_back(event.address);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      event.kind = EventKind::kRealloc;
      event.op = Op::kRealloc;
      event.outcome = static_cast<ReallocOutcome>(random() % 4);
      event.old_address = live.back().first;
      event.address = event.outcome == ReallocOutcome::kMoved ? fresh : event.old_address;
      event.size = random() % 100'000;
    }
    events.push_back(event);
  }
  return events;
}

TEST(EventBlock, HeapsComeBackAsTheyWere) {
  for (unsigned seed = 0; seed < 8; ++seed) expect_round_trip(heap_like(seed, 20'000));
  expect_round_trip(heap_like(99, kMostBlockEvents));
}

TEST(EventBlock, AnythingComesBackAsItWas) {
  std::mt19937_64 random(5);
  std::vector<KeptEvent> events;
  for (int i = 0; i < 5000; ++i) {
    KeptEvent event;
    const auto any = [&] { return random() >> random() % 64; };
    event.key = any();
    event.ticks = any();
    event.address = any();
    event.site = static_cast<std::uint32_t>(any());
    event.thread = static_cast<std::uint32_t>(any() & 0xffffff);
    event.kind = static_cast<EventKind>(random() % 3);
    event.op = static_cast<Op>(random() % static_cast<unsigned>(Op::kCount));
    if (event.kind != EventKind::kFree) event.size = any();
    if (event.kind == EventKind::kRealloc) {
      event.old_address = any();
      event.outcome = static_cast<ReallocOutcome>(random() % 4);
    }
    events.push_back(event);
  }
  expect_round_trip(events);
}

// Models of threads are shared when there are many, and memory stays bounded.
TEST(EventBlock, ManyThreadsComeBackToo) {
  std::vector<KeptEvent> events = heap_like(11, 40'000);
  for (std::size_t i = 0; i < events.size(); ++i)
    events[i].thread = static_cast<std::uint32_t>(i * 7919 % 10'000);
  expect_round_trip(events);
}

TEST(EventBlock, OtherGuessesAreRefused) {
  std::string bytes = encode_events(heap_like(1, 10), kShift);
  ++bytes[0];
  std::vector<KeptEvent> back;
  EXPECT_FALSE(decode_events(bytes, back));
}

TEST(EventBlock, NothingAtAllIsABlock) { expect_round_trip({}); }

TEST(EventBlock, DamagedBytesGiveWhatCameBefore) {
  const std::vector<KeptEvent> events = heap_like(1, 3000);
  const std::string bytes = encode_events(events, kShift);
  std::vector<KeptEvent> back;
  EXPECT_FALSE(decode_events(std::string_view(bytes).substr(0, bytes.size() - 1), back));
  EXPECT_FALSE(decode_events(bytes + "x", back));
  EXPECT_FALSE(decode_events("", back));
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (unsigned i = 0; i < 1 + random() % 3; ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    back.clear();
    decode_events(damaged, back);
    EXPECT_LE(back.size(), kMostBlockEvents);
  }
}

TEST(EventBlock, AUnitIsAboutFourNanoseconds) {
  EXPECT_EQ(event_shift(1'000'000'000), 2u);
  EXPECT_EQ(event_shift(2'100'000'000), 3u);
  EXPECT_EQ(event_shift(4'000'000'000), 4u);
  EXPECT_EQ(event_shift(1'000'000), 0u);
}

// Bytes an event before compression, on a heap that is harder to guess than a game's.
TEST(EventBlock, IsSmall) {
  const std::vector<KeptEvent> events = heap_like(7, kMostBlockEvents);
  EXPECT_LT(encode_events(events, kShift).size(), events.size() * 10);
}

}  // namespace
}  // namespace hitch::format
