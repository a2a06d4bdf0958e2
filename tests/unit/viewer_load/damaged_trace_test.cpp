// Any bytes end in records, warnings or a LoadError.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "format/varint.h"
#include "support/sample_traces.h"
#include "support/trace_builder.h"
#include "viewer/load/trace_reader.h"

namespace hitch::load {
namespace {

using support::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Outcome {
  bool opened = false;
  std::size_t frames = 0;
  std::vector<std::string> warnings;
};

Outcome read_all(std::string bytes) {
  Outcome outcome;
  auto reader = TraceReader::open(from_memory(std::move(bytes)));
  if (!reader) {
    EXPECT_FALSE(reader.error().sentence().empty());
    return outcome;
  }
  outcome.opened = true;
  reader->for_each_record([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, format::trace::Frame>) {
      ++outcome.frames;
    }
  });
  outcome.warnings = reader->warnings();
  return outcome;
}

TraceBuilder three_chunks() {
  TraceBuilder trace;
  trace.preamble();
  for (int i = 0; i < 3; ++i) trace.frames(10, {}).end_chunk();
  return trace;
}

TEST(DamagedTrace, WithoutAnIndexEverythingIsFoundByScanning) {
  const Outcome outcome = read_all(three_chunks().bytes(false));
  EXPECT_EQ(outcome.frames, 30u);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("no index")));
}

TEST(DamagedTrace, ACutTailGivesEverythingBefore) {
  std::string bytes = three_chunks().bytes(false);
  bytes.resize(bytes.size() - 7);
  const Outcome outcome = read_all(bytes);
  EXPECT_EQ(outcome.frames, 20u);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_THAT(outcome.warnings[0], HasSubstr("bytes are not readable: the recording was cut"));
  EXPECT_THAT(outcome.warnings[0], HasSubstr("hitchtrace recover"));
}

TEST(DamagedTrace, TheWarningCountsTheBytes) {
  std::string bytes = three_chunks().bytes(false);
  const Outcome outcome = read_all(bytes + std::string(13, 'z'));
  EXPECT_EQ(outcome.frames, 30u);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("the last 13 bytes")));
}

TEST(DamagedTrace, EveryPrefixIsReadOrRefused) {
  const std::string whole = three_chunks().bytes();
  std::size_t most = 0;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Outcome outcome = read_all(whole.substr(0, length));
    EXPECT_EQ(outcome.opened, length >= 32) << length;
    EXPECT_GE(outcome.frames, most) << length;
    most = outcome.frames;
  }
  EXPECT_EQ(most, 30u);
}

TEST(DamagedTrace, ADamagedChunkInTheMiddleLosesOnlyItself) {
  TraceBuilder trace = three_chunks();
  std::string bytes = trace.bytes(false);
  auto reader = TraceReader::open(from_memory(bytes));
  ASSERT_TRUE(reader);
  const std::uint64_t middle = reader->chunks()[1].offset;
  bytes[middle + sizeof(format::ChunkFrame) + 5] ^= 0x10;
  const Outcome outcome = read_all(bytes);
  EXPECT_EQ(outcome.frames, 20u);
  EXPECT_THAT(outcome.warnings, ::testing::Contains(HasSubstr("are damaged")));
}

TEST(DamagedTrace, ADamagedChunkUnderAGoodIndexIsNamedByItsOffset) {
  std::string bytes = three_chunks().bytes(true);
  auto reader = TraceReader::open(from_memory(bytes));
  ASSERT_TRUE(reader);
  const std::uint64_t middle = reader->chunks()[1].offset;
  bytes[middle + sizeof(format::ChunkFrame) + 5] ^= 0x10;
  const Outcome outcome = read_all(bytes);
  EXPECT_EQ(outcome.frames, 20u);
  EXPECT_THAT(outcome.warnings,
              ElementsAre(HasSubstr("chunk at byte " + std::to_string(middle) + " is damaged")));
}

TEST(DamagedTrace, GarbageBetweenChunksIsSteppedOver) {
  TraceBuilder trace;
  trace.preamble().frames(10, {}).garbage("HCNK and then nothing sensible at all HCNK");
  trace.frames(10, {});
  const Outcome outcome = read_all(trace.bytes(false));
  EXPECT_EQ(outcome.frames, 20u);
}

TEST(DamagedTrace, AnIndexThatLiesIsNotUsed) {
  const std::string whole = three_chunks().bytes(true);
  auto reader = TraceReader::open(from_memory(whole));
  ASSERT_TRUE(reader);
  ASSERT_TRUE(reader->indexed());
  std::string bytes = whole;
  bytes[bytes.size() - 16] ^= 1;  // the trailer's offset
  auto scanned = TraceReader::open(from_memory(bytes));
  ASSERT_TRUE(scanned);
  EXPECT_FALSE(scanned->indexed());
  EXPECT_EQ(read_all(bytes).frames, 30u);
}

TEST(DamagedTrace, ARecordThatMakesNoSenseEndsItsChunkWithAWarning) {
  std::string payload;
  format::put_varint(payload, 0);
  format::put_varint(payload, format::trace::Frame::kKind);
  format::put_varint(payload, 200);  // more than there is
  payload += "abc";
  TraceBuilder trace;
  trace.preamble().frames(5, {}).raw_chunk(payload).frames(5, {});
  const Outcome outcome = read_all(trace.bytes());
  EXPECT_EQ(outcome.frames, 10u);
  EXPECT_THAT(outcome.warnings, ElementsAre(HasSubstr("makes no sense")));
}

TEST(DamagedTrace, ChunkLengthsAreNotBelieved) {
  for (const std::size_t field : {8u, 12u}) {  // stored_bytes, raw_bytes
    std::string bytes = three_chunks().bytes(false);
    auto reader = TraceReader::open(from_memory(bytes));
    ASSERT_TRUE(reader);
    const std::uint64_t chunk = reader->chunks()[2].offset;
    bytes[chunk + field + 3] = '\x7f';
    EXPECT_EQ(read_all(bytes).frames, 20u) << field;
  }
}

// The same bytes every run: a seed that fails can be run again.
TEST(DamagedTrace, MutatedTracesNeverDoHarm) {
  const std::string originals[] = {
      support::sample_gaps().bytes(), three_chunks().bytes(false),
      TraceBuilder().compress(false).preamble().frames(20, {}).bytes()};
  std::size_t opened = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string bytes = originals[seed % 3];
    const unsigned flips = 1 + random() % 8;
    for (unsigned i = 0; i < flips; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const Outcome outcome = read_all(bytes);
    opened += outcome.opened ? 1 : 0;
    EXPECT_LE(outcome.frames, 250u) << "seed " << seed;
  }
  EXPECT_GT(opened, 2000u);
}

}  // namespace
}  // namespace hitch::load
