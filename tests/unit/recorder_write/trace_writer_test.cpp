#include "recorder/write/trace_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/trace_bytes.h"

namespace hitch::write {
namespace {

namespace trace = format::trace;
using support::parse;
using support::Parsed;
using support::records;

// Takes `room` bytes and then refuses, keeping a part of what did not fit as a full disk does.
class FullSink final : public ByteSink {
 public:
  FullSink(std::string& bytes, std::size_t room) : bytes_(bytes), room_(room) {}
  bool append(const void* data, std::size_t bytes) override {
    const std::size_t fits = std::min(bytes, room_ - std::min(room_, bytes_.size()));
    bytes_.append(static_cast<const char*>(data), fits);
    return fits == bytes;
  }
  bool truncate(std::uint64_t bytes) override {
    bytes_.resize(bytes);
    return true;
  }
  bool keep_only(const std::vector<Piece>& pieces) override {
    std::string kept;
    for (const Piece& piece : pieces) kept.append(bytes_, piece.offset, piece.bytes);
    bytes_ = kept;
    return true;
  }
  bool is_full() const override { return true; }

 private:
  std::string& bytes_;
  std::size_t room_;
};

trace::Frame frame_record(std::uint64_t id) {
  trace::Frame frame;
  frame.id = id;
  frame.begin = id * 1000;
  frame.end = id * 1000 + 999;
  frame.live_bytes = id * 12345678901;
  return frame;
}

TEST(TraceWriter, WritesChunksIndexAndTrailer) {
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 3'000'000'000, 7);
  writer.put(trace::Meta{"game.exe", "/game"});
  writer.tick(300, 0);
  for (std::uint64_t i = 0; i < 50000; ++i) writer.put(frame_record(i));
  writer.put(trace::FrameThread{.frame = 77777, .thread = 1});
  writer.finish(trace::End{.time = 5, .reason = 1});
  const Parsed parsed = parse(bytes);
  ASSERT_TRUE(parsed.trailer);
  EXPECT_GT(parsed.chunks.size(), 5u);
  ASSERT_EQ(parsed.index.size(), parsed.chunks.size());
  for (std::size_t i = 0; i < parsed.index.size(); ++i) {
    EXPECT_EQ(parsed.index[i].offset, parsed.offsets[i]);
    EXPECT_EQ(parsed.index[i].first_ticks, parsed.chunks[i].first_ticks);
    EXPECT_EQ(parsed.index[i].last_frame, parsed.chunks[i].last_frame);
    EXPECT_LE(parsed.chunks[i].raw_bytes, 300u * 1024);
    EXPECT_LT(parsed.chunks[i].stored_bytes, parsed.chunks[i].raw_bytes + 1);
  }
  // The first chunk has only a Meta: no times, no frames.
  EXPECT_GT(parsed.chunks[0].first_ticks, parsed.chunks[0].last_ticks);
  EXPECT_GT(parsed.chunks[0].first_frame, parsed.chunks[0].last_frame);
  EXPECT_EQ(parsed.chunks[1].first_frame, 0u);
  EXPECT_EQ(parsed.chunks.back().last_frame, 77777u);
  const auto frames = records<trace::Frame>(parsed);
  ASSERT_EQ(frames.size(), 50000u);
  EXPECT_EQ(frames[49999].end, 49999999u);
  EXPECT_EQ(frames[49999].live_bytes, 49999u * 12345678901);
  EXPECT_EQ(records<trace::End>(parsed).size(), 1u);
}

// A record that does not compress, of about `bytes`.
template <class Record>
void put_noise(TraceWriter& writer, Record record, std::string Record::*field, std::size_t bytes) {
  static std::mt19937_64 random(7);
  std::string& text = record.*field;
  while (text.size() < bytes) text.push_back(static_cast<char>(random()));
  writer.put(record);
}

TEST(TraceWriter, EventsHaveChunksOfTheirOwn) {
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0);
  writer.put(trace::Events{.first = 1, .last = 2, .count = 3});
  writer.put(frame_record(1));
  writer.put(trace::FrameSite{.frame = 1});
  writer.flush();
  const Parsed parsed = parse(bytes);
  ASSERT_EQ(parsed.chunks.size(), 2u);
  EXPECT_EQ(parsed.chunks[0].content, static_cast<unsigned>(format::ChunkContent::kMixed));
  EXPECT_EQ(parsed.chunks[1].content, static_cast<unsigned>(format::ChunkContent::kEvents));
  EXPECT_EQ(records<trace::FrameSite>(parsed).size(), 1u);
}

TEST(TraceWriter, ALimitGivesUpTheOldestEvents) {
  constexpr std::uint64_t kMost = 4 << 20;
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0, kMost);
  constexpr std::uint64_t kFrames = 3000;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    writer.put(frame_record(i));
    writer.put(trace::FrameThread{.frame = i, .allocs = i});
    put_noise(writer, trace::Events{.first = i, .last = i, .number = i, .count = 1},
              &trace::Events::block, 8000);
    if (i % 10 == 9) writer.flush();
    ASSERT_LE(bytes.size(), kMost + (1 << 20));
  }
  writer.finish(trace::End{.time = 5, .reason = 1});
  const Parsed parsed = parse(bytes);
  ASSERT_TRUE(parsed.trailer);
  ASSERT_EQ(parsed.index.size(), parsed.chunks.size());
  for (std::size_t i = 0; i < parsed.index.size(); ++i)
    EXPECT_EQ(parsed.index[i].offset, parsed.offsets[i]);
  EXPECT_EQ(records<trace::Frame>(parsed).size(), kFrames);
  const auto events = records<trace::Events>(parsed);
  EXPECT_EQ(events.back().number, kFrames - 1);
  std::uint64_t given_up = 0;
  for (const trace::GivenUp& record : records<trace::GivenUp>(parsed)) {
    given_up += record.events;
    EXPECT_EQ(record.frames, 0u);
  }
  EXPECT_EQ(events.size() + given_up, kFrames);
  EXPECT_EQ(records<trace::FrameThread>(parsed).size(), kFrames);
}

TEST(TraceWriter, ALimitGivesUpRowsWhenEventsAreNotEnough) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0, kMost);
  std::mt19937_64 random(9);
  constexpr std::uint64_t kFrames = 60'000;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    writer.put(trace::FrameThread{
        .frame = i, .allocs = random(), .bytes = random(), .alloc_ticks = random()});
    if (i % 1000 == 999) writer.flush();
    ASSERT_LE(bytes.size(), kMost + (1 << 18));
  }
  writer.finish(trace::End{.time = 5, .reason = 1});
  const Parsed parsed = parse(bytes);
  ASSERT_TRUE(parsed.trailer);
  const auto given_up = records<trace::GivenUp>(parsed);
  ASSERT_GT(given_up.size(), 1u);
  const auto rows = records<trace::FrameThread>(parsed);
  EXPECT_EQ(rows.front().frame, given_up.back().frames);
  EXPECT_EQ(rows.back().frame, kFrames - 1);
}

TEST(TraceWriter, WhatMayNotBeGivenUpEndsTheRecordingAtTheLimit) {
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0, 1 << 20);
  for (int i = 0; i < 200 && !writer.failed(); ++i) {
    put_noise(writer, trace::Text{.id = 1}, &trace::Text::text, 20000);
    writer.flush();
  }
  ASSERT_TRUE(writer.failed());
  EXPECT_EQ(writer.trouble(), "its largest size is reached");
  writer.finish(trace::End{.time = 5, .reason = 1});
  const Parsed parsed = parse(bytes);
  EXPECT_TRUE(parsed.trailer);
  EXPECT_GT(records<trace::Text>(parsed).size(), 40u);
  EXPECT_EQ(records<trace::End>(parsed).size(), 1u);
}

TEST(TraceWriter, PausedOnlyWhatLastsIsWritten) {
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0);
  writer.set_paused(true);
  writer.put(frame_record(1));
  writer.put(trace::FrameThread{.frame = 1});
  writer.put(trace::FrameFault{.frame = 1});
  writer.put(trace::CodeSample{.frame = 1});
  writer.put(trace::Thread{.id = 0, .tid = 7});
  writer.set_paused(false);
  writer.put(frame_record(2));
  writer.finish({});
  const Parsed parsed = parse(bytes);
  ASSERT_EQ(records<trace::Frame>(parsed).size(), 1u);
  EXPECT_EQ(records<trace::Frame>(parsed)[0].id, 2u);
  EXPECT_TRUE(records<trace::FrameThread>(parsed).empty());
  EXPECT_TRUE(records<trace::FrameFault>(parsed).empty());
  EXPECT_TRUE(records<trace::CodeSample>(parsed).empty());
  EXPECT_EQ(records<trace::Thread>(parsed).size(), 1u);
}

TEST(TraceWriter, AQuarterOfASecondIsFlushed) {
  std::string bytes;
  TraceWriter writer(std::make_unique<FullSink>(bytes, SIZE_MAX), 1, 0);
  writer.tick(1000, 0);
  const std::size_t empty = bytes.size();
  writer.put(frame_record(1));
  writer.tick(1249, 0);
  EXPECT_EQ(bytes.size(), empty);
  writer.tick(1250, 0);
  EXPECT_GT(bytes.size(), empty);
  EXPECT_EQ(records<trace::Frame>(parse(bytes)).size(), 1u);  // whole without index or trailer
}

TEST(TraceWriter, TheFileTakesOverWhatWasKeptInMemory) {
  auto memory = std::make_unique<MemorySink>();
  MemorySink& kept = *memory;
  TraceWriter writer(std::move(memory), 1, 0);
  writer.put(frame_record(1));
  writer.flush();
  writer.put(frame_record(2));
  writer.flush();
  std::string bytes;
  const std::string so_far = kept.bytes();
  writer.redirect(std::make_unique<FullSink>(bytes, SIZE_MAX), so_far);
  writer.put(frame_record(3));
  writer.finish({});
  const Parsed parsed = parse(bytes);
  EXPECT_TRUE(parsed.trailer);
  EXPECT_EQ(parsed.index.size(), 3u);
  EXPECT_EQ(records<trace::Frame>(parsed).size(), 3u);
}

TEST(TraceWriter, AFullDiskKeepsEveryWholeChunkAndTheEnd) {
  // However much room there is, the file is valid afterwards.
  for (std::size_t room = 0; room < 9000; room += 97) {
    std::string bytes;
    TraceWriter writer(std::make_unique<FullSink>(bytes, room), 1, 0);
    for (std::uint64_t chunk = 0; chunk < 20; ++chunk) {
      for (std::uint64_t i = 0; i < 20; ++i) writer.put(frame_record(chunk * 20 + i));
      writer.flush();
    }
    const bool failed = writer.failed();
    writer.finish(trace::End{.time = 1, .reason = 6});
    if (room < sizeof(format::FileHeader)) {
      EXPECT_TRUE(bytes.empty());
      continue;
    }
    const Parsed parsed = parse(bytes);
    EXPECT_LE(bytes.size(), std::max<std::size_t>(room, 32));
    const auto frames = records<trace::Frame>(parsed);
    EXPECT_EQ(frames.size() % 20, 0u);
    for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].id, i);
    if (!failed) {
      EXPECT_EQ(frames.size(), 400u);
    }
    for (const trace::End& end : records<trace::End>(parsed)) EXPECT_EQ(end.reason, 6u);
  }
}

TEST(TraceWriter, MovingIntoAFullDiskKeepsWhatFits) {
  for (std::size_t room = 0; room < 3000; room += 61) {
    auto memory = std::make_unique<MemorySink>();
    MemorySink& kept = *memory;
    TraceWriter writer(std::move(memory), 1, 0);
    for (std::uint64_t chunk = 0; chunk < 5; ++chunk) {
      for (std::uint64_t i = 0; i < 20; ++i) writer.put(frame_record(chunk * 20 + i));
      writer.flush();
    }
    std::string bytes;
    const std::string so_far = kept.bytes();
    writer.redirect(std::make_unique<FullSink>(bytes, room), so_far);
    EXPECT_EQ(writer.failed(), room < so_far.size());
    writer.finish({});
    if (bytes.empty()) continue;
    const Parsed parsed = parse(bytes);
    EXPECT_EQ(records<trace::Frame>(parsed).size() % 20, 0u);
    if (parsed.trailer) {
      EXPECT_EQ(parsed.index.size(), parsed.chunks.size());
    }
  }
}

}  // namespace
}  // namespace hitch::write
