// When hitches come and what goes with them, in words.
#include "viewer/render/pattern_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "support/sample_traces.h"
#include "viewer/render/managed_heap_text.h"
#include "viewer/render/text_report.h"

namespace hitch::render {
namespace {

using analyse::HeapSource;
using support::FrameSpec;
using support::TraceBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

analyse::Report report_of(TraceBuilder builder) {
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  if (!reader) throw std::runtime_error(reader.error().sentence());
  return analyse::build_report(*reader, {}, {});
}

std::string text_of(const analyse::Report& report, Style style = {}) {
  SiteNames names(report.trace, offset_namer(report.trace));
  return text_report(report, "run.hitch", style, 10, names);
}

// From a heading to the next empty line.
std::string section(const std::string& text, const std::string& heading) {
  const std::size_t begin = text.find("\n" + heading);
  if (begin == std::string::npos) return "";
  return text.substr(begin + 1, text.find("\n\n", begin) - begin);
}

std::string pattern_at(const analyse::Report& report, std::uint64_t frame) {
  SiteNames names(report.trace, offset_namer(report.trace));
  for (const analyse::Hitch& hitch : report.hitches.play) {
    if (hitch.frame.index() == frame) return pattern_text(report, hitch, {}, names);
  }
  return "no such hitch";
}

TEST(PatternText, SaysWhenEachHitchComes) {
  const analyse::Report report = report_of(support::sample_periodic());
  EXPECT_EQ(pattern_at(report, 40),
            "every 60 frames (610 ms +- 0.92 %), 15 times, growing from 5.40 ms to 11.6 ms");
  EXPECT_EQ(pattern_at(report, support::kPeriodicFirstTime),
            "first time this code ran: pre-create while loading (game+0x1200)");
  EXPECT_EQ(pattern_at(report, 402), "one of 5 like it, irregular, typically 2.15 s apart");
  EXPECT_EQ(pattern_at(report_of(support::sample_mixed()), support::kMixedGpu), "");
}

TEST(PatternText, AStrangerAmongPeriodicOnesIsCalledOne) {
  TraceBuilder builder;
  builder.preamble();
  for (std::uint64_t i = 0; i < 900; ++i) {
    FrameSpec spec;
    if (i % 60 == 40 || i == 333) spec.wall_ms += 5;
    builder.frame(spec);
  }
  const analyse::Report report = report_of(builder.finish());
  EXPECT_THAT(pattern_at(report, 333),
              HasSubstr("one of 16 like it, but not among those that come every 60 frames"));
  EXPECT_THAT(section(text_of(report), "HITCHES THAT COME TOGETHER"), HasSubstr(", 15 of them"));
}

TEST(HitchGroups, AreListedByTheirExcess) {
  const std::string text =
      section(text_of(report_of(support::sample_periodic())), "HITCHES THAT COME TOGETHER");
  EXPECT_THAT(text, HasSubstr("       15    127 ms   8.66 ms every 60 frames (610 ms +- 0.92 %)\n"
                              "                              allocator: game+0x1100\n"
                              "                              growing from 5.40 ms to 11.6 ms\n"));
  EXPECT_THAT(text, HasSubstr("\n        5 "));
  EXPECT_THAT(text, HasSubstr("\n        1   8.90 ms   8.90 ms first time this code ran"));
  EXPECT_LT(text.find("every 60 frames"), text.find("irregular"));
}

TEST(HitchGroups, SingleHitchesMakeNoSection) {
  EXPECT_EQ(section(text_of(report_of(support::sample_vsync())), "HITCHES THAT COME TOGETHER"), "");
}

TEST(SlowFramesText, NamesWhatPeaksInHitches) {
  const std::string text =
      section(text_of(report_of(support::sample_periodic())), "WHAT GOES WITH SLOW FRAMES");
  EXPECT_THAT(text, HasSubstr("16 of 21 hitches are among the 16 frames with most allocations."));
  EXPECT_THAT(text, HasSubstr("in the 21 frames with most"));
  EXPECT_THAT(text, HasSubstr("chance puts\n  0.5 of 21 there"));
}

TEST(SlowFramesText, WithoutHitchesOnlyCorrelationsAreShown) {
  TraceBuilder builder;
  builder.preamble();
  for (std::uint64_t i = 0; i < 200; ++i) {
    FrameSpec spec;
    spec.wall_ms = 10 + 0.3 * support::noise(i);
    spec.allocs = 100 + static_cast<std::uint64_t>(10 * (support::noise(i) + 1));
    builder.frame(spec);
  }
  const std::string text =
      section(text_of(report_of(builder.finish())), "WHAT GOES WITH SLOW FRAMES");
  EXPECT_THAT(text, HasSubstr("allocations"));
  EXPECT_THAT(text, Not(HasSubstr("hitches")));
  EXPECT_THAT(text, Not(HasSubstr("chance")));
}

TEST(ManagedHeapsText, SaysWhatIsNotCounted) {
  EXPECT_THAT(
      text_of(report_of(support::sample_periodic())),
      HasSubstr("Note: Mono (libmonosgen-2.0.so.1) keeps its objects in a heap of its own"));
  EXPECT_THAT(text_of(report_of(support::sample_mixed())), Not(HasSubstr("Note:")));
}

TEST(ManagedHeapsText, IsOneNoteForAll) {
  analyse::Report report;
  report.managed_heaps = {{"Lua", "liblua5.4.so.0", HeapSource::kAllocator},
                          {"Mono", "libmonosgen-2.0.so", HeapSource::kOwn},
                          {"LuaJIT", "libluajit-5.1.so.2", HeapSource::kOwn}};
  const std::string text = managed_heaps_text(report);
  EXPECT_THAT(text,
              HasSubstr("Mono (libmonosgen-2.0.so) and LuaJIT (libluajit-5.1.so.2) keep their "
                        "objects in heaps of their own, not malloc's"));
  EXPECT_THAT(text, HasSubstr(". Lua (liblua5.4.so.0) allocates through realloc"));
}

}  // namespace
}  // namespace hitch::render
