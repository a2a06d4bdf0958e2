// Traces of every released format version read the same for ever.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "viewer/analyse/report.h"
#include "viewer/load/trace_reader.h"
#include "viewer/render/json_report.h"
#include "viewer/render/record_dump.h"
#include "viewer/render/summary.h"
#include "viewer/render/text_report.h"

namespace hitch {
namespace {

std::string path_of(const std::string& name) {
  return std::string(HITCH_GOLDEN_DIR) + "/v1/" + name;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Rewrites instead of comparing when HITCH_GOLDEN_REWRITE is set: for review, never in a test run.
void expect_golden(const std::string& name, const std::string& actual) {
  if (std::getenv("HITCH_GOLDEN_REWRITE") != nullptr) {
    std::ofstream(path_of(name), std::ios::binary) << actual;
    return;
  }
  EXPECT_EQ(read_file(path_of(name)), actual) << name;
}

class Golden : public ::testing::TestWithParam<const char*> {
 protected:
  load::TraceReader open() {
    auto source = load::open_file(path_of(std::string(GetParam()) + ".hitch"));
    EXPECT_TRUE(source);
    auto reader = load::TraceReader::open(*source);
    EXPECT_TRUE(reader);
    return std::move(*reader);
  }
};

TEST_P(Golden, DumpsToTheSameText) {
  load::TraceReader reader = open();
  std::ostringstream out;
  render::write_dump(reader, render::DumpFormat::kText, out);
  // The whole dump of a long trace would be megabytes of repetition: its head and its sum are kept.
  const std::string text = out.str();
  std::uint64_t sum = 14695981039346656037ull;
  for (const char byte : text) sum = (sum ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  std::size_t head = 0;
  for (int line = 0; line < 120 && head != std::string::npos; ++line) {
    head = text.find('\n', head + 1);
  }
  std::ostringstream golden;
  golden << text.substr(0, head == std::string::npos ? head : head + 1) << "-- " << text.size()
         << " bytes, FNV-1a " << std::hex << sum << '\n';
  expect_golden(std::string(GetParam()) + ".dump.txt", golden.str());
}

TEST_P(Golden, ReportsTheSame) {
  load::TraceReader reader = open();
  const analyse::Report report = analyse::build_report(reader, {}, {10});
  render::SiteNames names(report.trace, render::offset_namer(report.trace));
  std::string text = render::text_report(report, "golden.hitch", {false, false, 80}, 10, names);
  text +=
      "\n==== summary\n" + render::summary_text(report, "golden.hitch", {false, false, 80}, names);
  for (const std::string& warning : report.trace.warnings) text += "warning: " + warning + '\n';
  expect_golden(std::string(GetParam()) + ".report.txt", text);
}

TEST_P(Golden, JsonLinesAndTextDumpHaveTheSameRecords) {
  load::TraceReader reader = open();
  std::ostringstream text;
  std::ostringstream json;
  render::write_dump(reader, render::DumpFormat::kText, text);
  render::write_dump(reader, render::DumpFormat::kJsonLines, json);
  const std::string lines = json.str();
  const std::string words = text.str();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'),
            std::count(words.begin(), words.end(), '\n'));
  EXPECT_EQ(lines.rfind("{\"record\":\"File\"", 0), 0u);
}

INSTANTIATE_TEST_SUITE_P(V1, Golden,
                         ::testing::Values("mixed", "vsync", "windows", "empty", "gaps", "cut"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace hitch
