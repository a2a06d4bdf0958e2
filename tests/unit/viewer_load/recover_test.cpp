// `hitchtrace recover`: an index again, nothing else changed.
#include "viewer/load/recover.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/trace_builder.h"
#include "viewer/load/trace_reader.h"

namespace hitch::load {
namespace {

using support::TraceBuilder;
using support::write_temporary;
using ::testing::HasSubstr;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TraceBuilder three_chunks() {
  TraceBuilder trace;
  trace.preamble();
  for (int i = 0; i < 3; ++i) trace.frames(10, {}).end_chunk();
  return trace;
}

std::size_t frames_in(const std::string& path, bool expect_index) {
  auto source = open_file(path);
  EXPECT_TRUE(source);
  auto reader = TraceReader::open(*source);
  EXPECT_TRUE(reader);
  EXPECT_EQ(reader->indexed(), expect_index);
  std::size_t frames = 0;
  reader->for_each_record([&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, format::trace::Frame>) ++frames;
  });
  return frames;
}

TEST(Recover, CutsTheHalfChunkAndIndexesTheRest) {
  std::string bytes = three_chunks().bytes(false);
  bytes.resize(bytes.size() - 9);
  const std::string path = write_temporary("cut.hitch", bytes);
  EXPECT_EQ(frames_in(path, false), 20u);
  auto recovery = recover(path, "");
  ASSERT_TRUE(recovery) << recovery.error().sentence();
  EXPECT_EQ(recovery->chunks, 2u);
  EXPECT_GT(recovery->removed_bytes, 0u);
  EXPECT_EQ(frames_in(path, true), 20u);
}

TEST(Recover, TwiceChangesNothing) {
  const std::string path = write_temporary("twice.hitch", three_chunks().bytes(false));
  ASSERT_TRUE(recover(path, ""));
  const std::string once = read_file(path);
  auto again = recover(path, "");
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->was_whole);
  EXPECT_EQ(read_file(path), once);
}

TEST(Recover, AWholeTraceIsLeftAlone) {
  const std::string bytes = three_chunks().bytes();
  const std::string path = write_temporary("whole.hitch", bytes);
  auto recovery = recover(path, "");
  ASSERT_TRUE(recovery);
  EXPECT_TRUE(recovery->was_whole);
  EXPECT_EQ(read_file(path), bytes);
}

TEST(Recover, IntoAnotherFileLeavesTheFirstAndDropsDamage) {
  TraceBuilder trace;
  trace.preamble().frames(10, {}).garbage("rubbish").frames(10, {});
  const std::string bytes = trace.bytes(false);
  const std::string path = write_temporary("from.hitch", bytes);
  const std::string to = write_temporary("to.hitch", "");
  std::filesystem::remove(to);
  auto recovery = recover(path, to);
  ASSERT_TRUE(recovery) << recovery.error().sentence();
  EXPECT_EQ(recovery->skipped_bytes, 7u);
  EXPECT_EQ(read_file(path), bytes);
  EXPECT_EQ(frames_in(to, true), 20u);
  EXPECT_EQ(read_file(to).find("rubbish"), std::string::npos);
  auto refused = recover(path, to);
  ASSERT_FALSE(refused) << "an existing file is never overwritten";
  EXPECT_THAT(refused.error().sentence(), HasSubstr("File exists"));
}

TEST(Recover, RefusesARecordingThatIsStillWritten) {
  const std::string path = write_temporary("live.hitch", three_chunks().bytes(false));
  const int writer = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  auto recovery = recover(path, "");
  close(writer);
  ASSERT_FALSE(recovery);
  EXPECT_THAT(recovery.error().sentence(), HasSubstr("still being recorded"));
}

TEST(Recover, RefusesWhatIsNoTrace) {
  const std::string path = write_temporary("no.hitch", "not a trace, but long enough for a header");
  auto recovery = recover(path, "");
  ASSERT_FALSE(recovery);
  EXPECT_EQ(read_file(path), "not a trace, but long enough for a header");
}

}  // namespace
}  // namespace hitch::load
