// What the report says, and that it fits.
#include "viewer/render/text_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "support/sample_traces.h"
#include "viewer/render/cause_text.h"
#include "viewer/render/summary.h"

namespace hitch::render {
namespace {

using support::FrameSpec;
using support::TraceBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

analyse::Report report_of(TraceBuilder builder, const analyse::RuleChoice& choice = {}) {
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  if (!reader) throw std::runtime_error(reader.error().sentence());
  return analyse::build_report(*reader, choice, {});
}

// Line breaks do not matter to what is said.
std::string flowing(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string word; in >> word;) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string text_of(const analyse::Report& report, Style style = {}) {
  SiteNames names(report.trace, offset_namer(report.trace));
  return text_report(report, "run.hitch", style, 10, names);
}

std::string summary_of(const analyse::Report& report, Style style = {}) {
  SiteNames names(report.trace, offset_namer(report.trace));
  return summary_text(report, "run.hitch", style, names);
}

std::string first_lines(const std::string& text, std::size_t lines) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < lines && at != std::string::npos; ++i) at = text.find('\n', at) + 1;
  return text.substr(0, at);
}

std::string sentence_at(const analyse::Report& report, std::uint64_t frame) {
  SiteNames names(report.trace, offset_namer(report.trace));
  for (const auto& hitch : report.hitches.play) {
    if (hitch.frame.index() == frame) return cause_sentence(report, hitch, names);
  }
  return "";
}

TEST(TextReport, TheFirstScreenSaysHowManyWhyAndWho) {
  const std::string screen = flowing(first_lines(text_of(report_of(support::sample_mixed())), 24));
  EXPECT_THAT(screen, HasSubstr("7 hitches in 900 frames"));
  EXPECT_THAT(screen, HasSubstr("allocator 2"));
  EXPECT_THAT(screen, HasSubstr("the allocator took 14.6 ms more than usual"));
  EXPECT_THAT(screen, HasSubstr("Who: game+0x1200"));
}

TEST(TextReport, FitsEveryWidth) {
  std::vector<analyse::Report> reports;
  reports.push_back(report_of(support::sample_mixed()));
  reports.push_back(report_of(support::sample_periodic()));
  reports.push_back(report_of(support::sample_vsync()));
  reports.push_back(report_of(support::sample_windows()));
  reports.push_back(report_of(support::sample_gaps()));
  reports.push_back(report_of(support::sample_empty()));
  for (const unsigned width : {64u, 80u, 100u, 120u, 200u}) {
    for (const bool unicode : {false, true}) {
      for (const analyse::Report& report : reports) {
        const Style style{true, unicode, width};
        std::istringstream lines(text_of(report, style) + summary_of(report, style));
        for (std::string line; std::getline(lines, line);) {
          EXPECT_LE(columns_of(line), width) << line;
        }
      }
    }
  }
}

TEST(TextReport, WithoutColourThereIsNoEscapeAndWithoutUnicodeNoMultibyte) {
  const std::string text = text_of(report_of(support::sample_mixed()), {false, false, 80});
  for (const char byte : text) {
    EXPECT_TRUE(byte == '\n' || (byte >= 0x20 && byte < 0x7f)) << static_cast<int>(byte);
  }
}

TEST(TextReport, ColourChangesNoWord) {
  const analyse::Report report = report_of(support::sample_mixed());
  std::string coloured = text_of(report, {true, false, 80});
  for (std::size_t at; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, text_of(report, {false, false, 80}));
}

TEST(TextReport, WindowsAreCalledWindowsEverywhere) {
  const analyse::Report report = report_of(support::sample_windows());
  const std::string text = flowing(text_of(report));
  EXPECT_THAT(text, HasSubstr("No present call was seen"));
  EXPECT_THAT(text, HasSubstr("window 60 at 1.00 s: 9.09 ms in the allocator"));
  EXPECT_THAT(text, Not(HasSubstr("fps")));
  EXPECT_THAT(text, Not(HasSubstr("a frame")));
  EXPECT_THAT(text, Not(HasSubstr("of frame time")));
}

TEST(TextReport, AnEmptyTraceIsExplained) {
  EXPECT_THAT(flowing(text_of(report_of(support::sample_empty()))),
              HasSubstr("The recording holds no frames and no allocator calls: the game ended"));
}

TEST(TextReport, LossesAreSaid) {
  const std::string text = flowing(text_of(report_of(support::sample_gaps())));
  EXPECT_THAT(text, HasSubstr("15,000 events were counted but not recorded one by one"));
  EXPECT_THAT(text, HasSubstr("sums stay exact"));
  EXPECT_THAT(flowing(text_of(report_of(support::sample_mixed()))),
              HasSubstr("No event was lost."));
}

TEST(TextReport, UntimedCallsAreNotShownAsZero) {
  TraceBuilder builder;
  builder.preamble().meta("option.level", "count").frames(100, {}).finish();
  const std::string text = flowing(text_of(report_of(std::move(builder))));
  EXPECT_THAT(text, HasSubstr("Calls were not timed"));
  EXPECT_THAT(text, HasSubstr("not recorded at --level count"));
  EXPECT_THAT(text, Not(HasSubstr("of frame time is allocator time")));
}

TEST(Summary, IsOneScreen) {
  for (const unsigned width : {64u, 80u, 120u}) {
    for (auto* sample : {support::sample_mixed, support::sample_vsync, support::sample_windows,
                         support::sample_empty, support::sample_gaps}) {
      const std::string text = summary_of(report_of(sample()), {false, false, width});
      EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
    }
  }
}

TEST(Summary, AlwaysSaysWhatTheRecordingCostAndLost) {
  const std::string text = flowing(summary_of(report_of(support::sample_mixed())));
  EXPECT_THAT(text, HasSubstr("Recording cost: est."));
  EXPECT_THAT(text, HasSubstr("No event was lost."));
  EXPECT_THAT(text, HasSubstr("7 hitches in 900 frames"));
}

TEST(CauseSentence, WaitingNamesTheWorkOfOthers) {
  const std::string sentence =
      sentence_at(report_of(support::sample_mixed()), support::kMixedWorker);
  EXPECT_THAT(sentence, HasSubstr("waited 8.00 ms longer"));
  EXPECT_THAT(sentence, HasSubstr("while the other threads took 7,400 page faults (est. 7.40 ms)"));
  EXPECT_THAT(sentence, HasSubstr("in the allocator (worker-2"));
}

TEST(CauseSentence, NotMemoryIsSaidOnlyAfterTheOthersAreNamed) {
  const std::string sentence =
      sentence_at(report_of(support::sample_mixed()), support::kMixedNotMemory);
  EXPECT_THAT(sentence, HasSubstr("not memory (the other threads: 0 page faults and 90.0 us"));
  EXPECT_THAT(sentence_at(report_of(support::sample_mixed()), support::kMixedWorker),
              Not(HasSubstr("not memory")));
}

TEST(CauseSentence, ALockInTheAllocatorIsRecognised) {
  EXPECT_THAT(sentence_at(report_of(support::sample_mixed()), support::kMixedLock),
              HasSubstr("off the CPU: a contended lock or the kernel"));
}

TEST(CauseSentence, BlockedPresentsPointToGpuOrVsync) {
  EXPECT_THAT(sentence_at(report_of(support::sample_mixed()), support::kMixedGpu),
              HasSubstr("probably bound by GPU or vsync"));
}

TEST(CauseSentence, FaultTimeIsCalledAnEstimate) {
  EXPECT_THAT(sentence_at(report_of(support::sample_mixed()), support::kMixedFaults),
              HasSubstr("time estimated"));
}

TEST(CauseSentence, PeaksCoincide) {
  EXPECT_THAT(sentence_at(report_of(support::sample_mixed()), support::kMixedWaiting),
              HasSubstr("coincides with 1,090 allocations (usually 190)"));
}

TEST(TextReport, TextsOfTheGameCannotDriveTheTerminal) {
  TraceBuilder builder;
  builder.preamble().add(format::trace::Text{1, "\x1b]0;pwned\x07 hello"});
  builder.add(format::trace::Thread{1, 9, "\x1b[2J", 0});
  FrameSpec spec;
  spec.message = 1;
  builder.frames(100, spec);
  spec.wall_ms = 30;
  spec.waiting_ms = 20;
  spec.others = {{1, 10, 19}};
  builder.frame(spec);
  spec = {};
  spec.message = 1;
  builder.frames(100, spec).finish();
  const std::string text = text_of(report_of(std::move(builder)));
  EXPECT_THAT(text, HasSubstr("hello"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

}  // namespace
}  // namespace hitch::render
