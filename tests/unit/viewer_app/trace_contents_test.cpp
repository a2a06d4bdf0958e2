#include "viewer/app/trace_contents.h"

#include <gtest/gtest.h>

#include "support/trace_builder.h"
#include "temp_folder.h"

namespace hitch::app {
namespace {

using support::TraceBuilder;

format::trace::Counters counters(std::uint64_t thread, std::uint64_t allocs) {
  format::trace::Counters record;
  record.thread = thread;
  record.allocs = allocs;
  record.map_calls = 2;
  return record;
}

class TraceContentsTest : public ::testing::Test {
 protected:
  TraceContents read(TraceBuilder& builder, bool with_index = true) {
    const auto contents = read_contents(folder_.write("x.hitch", builder.bytes(with_index), false));
    return contents.value_or(TraceContents{});
  }
  TempFolder folder_;
};

TEST_F(TraceContentsTest, AddsTheLastCountersOfEachThread) {
  TraceBuilder builder;
  builder.meta("game.exe", "/opt/game");
  builder.add(counters(0, 10)).add(counters(1, 5)).add(counters(0, 30)).end_chunk();
  const TraceContents contents = read(builder);
  EXPECT_EQ(contents.calls, 35u);
  EXPECT_EQ(contents.map_calls, 4u);
  EXPECT_EQ(contents.executable, "/opt/game");
  EXPECT_FALSE(contents.has_frames);
}

TEST_F(TraceContentsTest, CountsTheFramesOfACutRecording) {
  TraceBuilder builder;
  builder.preamble().frames(3, {.allocs = 7}).end_chunk();
  const TraceContents contents = read(builder, false);
  EXPECT_GE(contents.calls, 21u);
  EXPECT_TRUE(contents.has_frames);
}

TEST_F(TraceContentsTest, SaysNothingOfWhatItCannotRead) {
  EXPECT_FALSE(read_contents(folder_ / "missing"));
  EXPECT_FALSE(read_contents(folder_.write("text", "hello", false)));
}

}  // namespace
}  // namespace hitch::app
