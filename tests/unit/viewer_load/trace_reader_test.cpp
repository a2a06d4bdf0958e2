// Well-formed traces, and the refusals that need no damage.
#include "viewer/load/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "format/varint.h"
#include "support/sample_traces.h"
#include "support/trace_builder.h"

namespace hitch::load {
namespace {

using support::TraceBuilder;
using ::testing::HasSubstr;

std::map<std::string, int> count_records(TraceReader& reader) {
  std::map<std::string, int> counts;
  reader.for_each_record(
      [&](const auto& record) { ++counts[std::decay_t<decltype(record)>::kName]; });
  return counts;
}

std::string open_error(std::string bytes) {
  auto reader = TraceReader::open(from_memory(std::move(bytes)));
  return reader ? "" : reader.error().sentence();
}

TEST(TraceReader, ReadsEveryRecordThroughTheIndex) {
  auto reader = TraceReader::open(from_memory(support::sample_gaps().bytes()));
  ASSERT_TRUE(reader);
  EXPECT_TRUE(reader->indexed());
  auto counts = count_records(*reader);
  EXPECT_EQ(counts["Frame"], 200);
  EXPECT_EQ(counts["FrameThread"], 600);
  EXPECT_EQ(counts["Gap"], 3);
  EXPECT_EQ(counts["End"], 1);
  EXPECT_TRUE(reader->warnings().empty());
}

TEST(TraceReader, ReadsPlainAndCompressedChunksAlike) {
  for (const bool compress : {false, true}) {
    TraceBuilder trace;
    trace.compress(compress).preamble().frames(50, {});
    auto reader = TraceReader::open(from_memory(trace.bytes()));
    ASSERT_TRUE(reader);
    EXPECT_EQ(count_records(*reader)["Frame"], 50) << "compress " << compress;
  }
}

TEST(TraceReader, FieldsSurviveTheRoundTrip) {
  TraceBuilder trace;
  trace.add(format::trace::Text{7, "\xc3\xa4 \x01 text"});
  trace.add(format::trace::Stack{3, {1, ~std::uint64_t{0}}, {0, 5}, 2});
  auto reader = TraceReader::open(from_memory(trace.bytes()));
  ASSERT_TRUE(reader);
  int seen = 0;
  reader->for_each_record([&](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, format::trace::Text>) {
      EXPECT_EQ(record.id, 7u);
      EXPECT_EQ(record.text, "\xc3\xa4 \x01 text");
      ++seen;
    } else if constexpr (std::is_same_v<Record, format::trace::Stack>) {
      EXPECT_EQ(record.addresses, (std::vector<std::uint64_t>{1, ~std::uint64_t{0}}));
      EXPECT_EQ(record.modules, (std::vector<std::uint64_t>{0, 5}));
      EXPECT_EQ(record.flags, 2u);
      ++seen;
    }
  });
  EXPECT_EQ(seen, 2);
}

TEST(TraceReader, SkipsChunksNobodyWants) {
  TraceBuilder trace;
  trace.preamble().end_chunk();
  trace.frames(10, {}).end_chunk();
  trace.frames(10, {}).end_chunk();
  auto reader = TraceReader::open(from_memory(trace.bytes()));
  ASSERT_TRUE(reader);
  ASSERT_EQ(reader->chunks().size(), 3u);
  int frames = 0;
  reader->for_each_record(
      [&](const auto& record) {
        if constexpr (std::is_same_v<std::decay_t<decltype(record)>, format::trace::Frame>) {
          EXPECT_GE(record.id, 10u);
          ++frames;
        }
      },
      [](const format::ChunkFrame& chunk) { return chunk.first_frame == 10; });
  EXPECT_EQ(frames, 10);
}

TEST(TraceReader, SkipsAndCountsRecordsOfUnknownKinds) {
  std::string payload;
  format::put_varint(payload, 0);
  format::put_varint(payload, 999);
  format::put_varint(payload, 3);
  payload += "abc";
  format::put_varint(payload, format::trace::Text::kKind);
  format::put_varint(payload, 3);
  payload += std::string("\x05\x01x", 3);
  auto reader = TraceReader::open(from_memory(TraceBuilder().raw_chunk(payload).bytes()));
  ASSERT_TRUE(reader);
  std::vector<std::uint64_t> unknown;
  int texts = 0;
  reader->for_each_record([&](const auto&) { ++texts; }, nullptr,
                          [&](std::uint64_t kind) { unknown.push_back(kind); });
  EXPECT_EQ(unknown, std::vector<std::uint64_t>{999});
  EXPECT_EQ(reader->unknown_records(), 1u);
  EXPECT_EQ(texts, 1);
  EXPECT_TRUE(reader->warnings().empty());
}

TEST(TraceReader, ToleratesFieldsOfANewerMinorVersion) {
  std::string payload;
  format::put_varint(payload, 0);
  format::put_varint(payload, format::trace::ModuleGone::kKind);
  format::put_varint(payload, 5);  // id, unloaded, and three bytes nobody knows yet
  payload += std::string("\x09\x02\x7f\x7f\x7f", 5);
  auto reader = TraceReader::open(from_memory(TraceBuilder().raw_chunk(payload).bytes()));
  ASSERT_TRUE(reader);
  int seen = 0;
  reader->for_each_record([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, format::trace::ModuleGone>) {
      EXPECT_EQ(record.id, 9u);
      EXPECT_EQ(record.unloaded, 1u);
      ++seen;
    }
  });
  EXPECT_EQ(seen, 1);
}

TEST(TraceReader, RefusesAnotherMajorVersionAndSaysWhatToDo) {
  std::string bytes = support::sample_empty().bytes();
  bytes[8] = 2;
  const std::string error = open_error(bytes);
  EXPECT_THAT(error, HasSubstr("format version 2."));
  EXPECT_THAT(error, HasSubstr("reads version 1"));
  EXPECT_THAT(error, HasSubstr("open it with the hitchtrace release"));
}

TEST(TraceReader, RefusesWhatIsNoTraceInOneSentence) {
  EXPECT_THAT(open_error(""), HasSubstr("is empty"));
  EXPECT_THAT(open_error("\x7f"
                         "ELF and more bytes than a header would need"),
              HasSubstr("is not a hitchtrace recording"));
  EXPECT_THAT(open_error("HITCHTRC"), HasSubstr("ends inside its header"));
  for (const auto* bytes : {"", "x", "HITCHTRC"}) {
    EXPECT_EQ(open_error(bytes).find('\n'), std::string::npos);
  }
}

TEST(TraceReader, RefusesAHeaderLengthBeyondTheFile) {
  std::string bytes = support::sample_empty().bytes();
  bytes[13] = 0x40;  // header_bytes 0x4020
  EXPECT_THAT(open_error(bytes), HasSubstr("damaged header"));
}

TEST(OpenFile, SaysWhyAFileCannotBeRead) {
  auto missing = open_file("/nonexistent/x.hitch");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().sentence(), HasSubstr("No such file"));
  auto folder = open_file("/tmp");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().sentence(), HasSubstr("is a folder"));
}

}  // namespace
}  // namespace hitch::load
