// The JSON has exactly the keys its document lists, and the numbers of the text.
#include "viewer/render/json_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "format/buffer_records.h"
#include "format/event_block.h"
#include "support/sample_traces.h"
#include "viewer/render/text_report.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using support::TraceBuilder;
using ::testing::HasSubstr;
using Json = nlohmann::json;

analyse::Report report_of(TraceBuilder builder) {
  auto reader = load::TraceReader::open(load::from_memory(builder.bytes()));
  if (!reader) throw std::runtime_error(reader.error().sentence());
  return analyse::build_report(*reader, {}, {});
}

Json json_of(const analyse::Report& report) {
  SiteNames names(report.trace, offset_namer(report.trace));
  std::ostringstream out;
  json_report(report, "run.hitch", 10, names, out);
  return Json::parse(out.str());
}

// facts.* has keys of the recording's own.
void collect_keys(const Json& json, const std::string& path, std::set<std::string>& keys) {
  if (json.is_array()) {
    for (const Json& item : json) collect_keys(item, path + "[]", keys);
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      const std::string below = path.empty() ? key : path + "." + key;
      if (path == "facts") {
        keys.insert("facts.*");
        continue;
      }
      if (!value.is_object()) keys.insert(below);
      collect_keys(value, below, keys);
    }
  }
}

// A trace in which every list has an item and every optional value is there.
TraceBuilder everything() {
  TraceBuilder builder = support::sample_mixed();
  builder.add(format::trace::Text{2, "physics"}).add(format::trace::Text{3, "pool"});
  builder.add(format::trace::FrameTag{1, 0, 2, 5, 50, 500});
  builder.add(format::trace::Heap{0, 3, 0}).add(format::trace::FrameHeap{1, 0, 3, 1, 96, 2, 64});
  builder.add(format::trace::MemorySample{1000, 9000, 5000, 2, 64});
  builder.add(format::trace::HeapSample{1000, 1, 8192, 200, 64, 100, 0x5000});
  std::vector<format::KeptEvent> events(2);
  events[0].address = 0x1000;
  events[1].address = 0x2000;
  events[1].site = 1;
  builder.meta("faults.source", "perf_event");
  builder.add(format::trace::Place{0, 0x1234, 1});
  for (const std::uint64_t frame : {support::kMixedFaults, support::kMixedWorker}) {
    const std::uint64_t thread = frame == support::kMixedFaults ? 0 : 1;
    // A block's, a file's.
    builder.add(format::trace::FrameFault{frame, thread, 0, 1, 1, 0, 900, 10, 5, 0});
    builder.add(format::trace::FrameFault{frame, thread, 3, 2, 0, 4, 3, 0, 0, 0});
    builder.add(format::trace::CodeSample{frame, thread, 0, 4});
  }
  format::trace::FrameThread blocked;
  blocked.frame = 1;
  blocked.call_off_ticks = 1000;
  blocked.blocked_calls = 1;
  builder.add(blocked);
  builder.add(format::trace::FaultPrice{0, 1, 100, 900'000, 800'000, 1'000'000, 0, 0});
  builder.add(format::trace::SiteChurn{1, 9, 9, 8, 900'000, 800, 9});
  builder.add(format::trace::ThreadFaults{0, 903, 0, 0, 0});
  builder.add(format::trace::Events{1, 2, 0, 2, format::encode_events(events, 0), 0});
  return builder;
}

std::set<std::string> documented_keys() {
  std::ifstream in(HITCH_SCHEMA_PATH);
  EXPECT_TRUE(in.good()) << HITCH_SCHEMA_PATH;
  std::set<std::string> keys;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::size_t end = line.find('`', 3);
    keys.insert(line.substr(3, end - 3));
  }
  return keys;
}

// Hitches of the three classes share their rows in the document.
std::set<std::string> as_documented(const std::set<std::string>& keys) {
  std::set<std::string> result;
  for (std::string key : keys) {
    for (const std::string list : {"hidden_by_vsync[].", "loading[]."}) {
      if (key.rfind(list, 0) == 0) key = "hitches[]." + key.substr(list.size());
    }
    result.insert(key);
  }
  return result;
}

TEST(JsonReport, HasExactlyTheDocumentedKeys) {
  std::set<std::string> keys;
  analyse::Report report = report_of(everything());
  ASSERT_FALSE(report.trace.stacks.empty());
  for (model::Site& site : report.trace.sites) site.stack = model::StackId(0u);
  ASSERT_TRUE(report.lifetimes);
  report.lifetimes->sites[0].drift = analyse::Drift{};
  collect_keys(json_of(report), "", keys);
  report.memory.heap.reset();
  report.patterns.of_hitch.clear();
  collect_keys(json_of(report), "", keys);
  collect_keys(json_of(report_of(support::sample_periodic())), "", keys);
  collect_keys(json_of(report_of(support::sample_vsync())), "", keys);
  collect_keys(json_of(report_of(support::sample_windows())), "", keys);
  const std::set<std::string> present = as_documented(keys);
  const std::set<std::string> documented = documented_keys();
  for (const std::string& key : present) {
    EXPECT_TRUE(documented.count(key)) << key << " is not in report_schema.md";
  }
  for (const std::string& key : documented) {
    EXPECT_TRUE(present.count(key)) << key << " is documented but never written";
  }
}

TEST(JsonReport, HasTheNumbersOfTheText) {
  const analyse::Report report = report_of(support::sample_mixed());
  SiteNames names(report.trace, offset_namer(report.trace));
  const std::string text = text_report(report, "run.hitch", {false, false, 120}, 10, names);
  const Json json = json_of(report);
  const Json& wall = json["frames"]["wall_ms"];
  std::string row = "  frame time    ";
  for (const char* key : {"p50", "p95", "p99", "p999", "max"}) {
    row += pad_left(ms_text(wall[key].get<double>() * 1e6), 10);
  }
  EXPECT_THAT(text, HasSubstr(row));
  ASSERT_EQ(json["hitches"].size(), 7u);
  for (const Json& hitch : json["hitches"]) {
    EXPECT_THAT(text, HasSubstr("frame " + count_text(hitch["frame"].get<std::uint64_t>()) +
                                " at " + duration_text(hitch["begin_ms"].get<double>() * 1e6) +
                                ": " + ms_text(hitch["wall_ms"].get<double>() * 1e6)));
    for (const auto& [part, numbers] : hitch["balance"].items()) {
      if (part == "present" || part == "sleep") continue;
      EXPECT_THAT(text,
                  HasSubstr(ms_text(numbers["ms"].get<double>() * 1e6) + " ms " +
                            pad_left(signed_ms_text(numbers["excess_ms"].get<double>() * 1e6), 9)))
          << part;
    }
  }
  for (const Json& site : json["call_sites"]["top"]) {
    EXPECT_THAT(text, HasSubstr(duration_text(site["ms"].get<double>() * 1e6)));
    EXPECT_THAT(text, HasSubstr(site["function"].get<std::string>()));
  }
  EXPECT_THAT(text, HasSubstr(percent_text(json["allocator"]["share_of_time"].get<double>())));
}

TEST(JsonReport, ADefectiveTextIsStillJson) {
  TraceBuilder builder;
  builder.preamble().meta("game.args", "\xff\xfe").frames(20, {}).finish();
  const Json json = json_of(report_of(std::move(builder)));
  EXPECT_EQ(json["facts"]["game.args"], "??");
}

TEST(JsonReport, MissingThingsAreNull) {
  TraceBuilder builder;
  builder.preamble().frames(2, {});
  const Json json = json_of(report_of(std::move(builder)));
  EXPECT_TRUE(json["end"].is_null());
  EXPECT_TRUE(json["overhead"]["recorder_cpu_ms"].is_null());
  EXPECT_TRUE(json["allocator"]["allocations_to_wall"].is_null());
  EXPECT_TRUE(json["rules"]["budget_ms"].is_null());
}

}  // namespace
}  // namespace hitch::render
