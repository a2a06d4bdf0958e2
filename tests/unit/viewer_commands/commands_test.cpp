// report, dump and recover as the user meets them: exit status, and one sentence for each trouble.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "format/file_layout.h"
#include "support/sample_traces.h"
#include "support/trace_builder.h"
#include "viewer/app/dump_command.h"
#include "viewer/app/recover_command.h"
#include "viewer/app/report_command.h"

namespace hitch::app {
namespace {

using support::write_temporary;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int status = -1;
  std::string out;
  std::string errors;
};

Outcome report(ReportOptions options) {
  std::ostringstream out;
  std::ostringstream errors;
  const int status = report_command(options, out, errors);
  return {status, out.str(), errors.str()};
}

Outcome dump(const std::string& trace, bool json = false) {
  std::ostringstream out;
  std::ostringstream errors;
  const int status = dump_command({trace, json}, out, errors);
  return {status, out.str(), errors.str()};
}

Outcome recover(const std::string& trace, const std::string& output = "") {
  std::ostringstream out;
  std::ostringstream errors;
  const int status = recover_command({trace, output}, out, errors);
  return {status, out.str(), errors.str()};
}

ReportOptions of(const std::string& trace) {
  ReportOptions options;
  options.trace = trace;
  return options;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ReportCommand, PrintsTheReportAndSucceeds) {
  const Outcome outcome = report(of(write_temporary("r.hitch", support::sample_mixed().bytes())));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("7 hitches in 900 frames"));
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "no colours but on a terminal";
}

TEST(ReportCommand, WarnsAboutACutTraceAndSucceeds) {
  std::string bytes = support::sample_gaps().bytes(false);
  bytes.resize(bytes.size() - 20);
  const Outcome outcome = report(of(write_temporary("w.hitch", bytes)));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("hitchtrace: warning: the last"));
  EXPECT_THAT(outcome.out, HasSubstr("frames"));
}

TEST(ReportCommand, FailsWithOneSentence) {
  for (const std::string& trace :
       {std::string("/nonexistent.hitch"), write_temporary("e.hitch", ""),
        write_temporary("t.hitch", "some text that is no trace but long enough")}) {
    const Outcome outcome = report(of(trace));
    EXPECT_EQ(outcome.status, 1) << trace;
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_THAT(outcome.errors, StartsWith("hitchtrace: " + trace + " "));
    EXPECT_EQ(lines(outcome.errors), 1u);
  }
}

TEST(ReportCommand, OptionsReachTheReport) {
  ReportOptions options = of(write_temporary("o.hitch", support::sample_mixed().bytes()));
  options.budget_ms = 20;
  EXPECT_THAT(report(options).out, HasSubstr("2 hitches in 900 frames"));
  options.budget_ms.reset();
  options.hitch_ms = 10;
  EXPECT_THAT(report(options).out, HasSubstr("2 hitches in 900 frames"));
  options.summary = true;
  EXPECT_LE(lines(report(options).out), 24u);
  options.colour = Colour::kAlways;
  EXPECT_NE(report(options).out.find('\x1b'), std::string::npos);
  options.json = true;
  EXPECT_THAT(report(options).out, StartsWith("{\n  \"schema\": \"hitchtrace-report/1\""));
}

TEST(DumpCommand, WritesOneLineARecord) {
  const std::string trace = write_temporary("d.hitch", support::sample_empty().bytes());
  const Outcome text = dump(trace);
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, StartsWith("File version=1." + std::to_string(format::kFileMinor) +
                                   " tsc_hz=1000000000"));
  EXPECT_THAT(text.out,
              HasSubstr("Module id=0 loaded=0 path=\"/opt/game/bin/game\" build_id=0102abcd"));
  const Outcome json = dump(trace, true);
  EXPECT_THAT(json.out,
              HasSubstr(R"({"record":"Meta","key":"machine.cpu","value":"Synthetic CPU"})"));
  EXPECT_EQ(lines(json.out), lines(text.out));
  EXPECT_EQ(dump("/nonexistent.hitch").status, 1);
}

TEST(RecoverCommand, SaysWhatItDid) {
  std::string bytes = support::sample_gaps().bytes(false);
  bytes.resize(bytes.size() - 20);
  const std::string trace = write_temporary("c.hitch", bytes);
  const Outcome first = recover(trace);
  EXPECT_EQ(first.status, 0);
  EXPECT_THAT(first.out, HasSubstr("chunks kept, index rewritten"));
  const Outcome second = recover(trace);
  EXPECT_THAT(second.out, HasSubstr("is whole"));
  EXPECT_TRUE(report(of(trace)).errors.find("warning") == std::string::npos);
  EXPECT_EQ(recover("/nonexistent.hitch").status, 1);
}

}  // namespace
}  // namespace hitch::app
