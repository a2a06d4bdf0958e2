#include "viewer/app/trace_contents.h"

#include <algorithm>
#include <map>

#include "viewer/load/byte_source.h"
#include "viewer/load/trace_reader.h"

namespace hitch::app {
namespace {

// Sums of one walk. Counters are cumulative, so the last of each thread counts; they are missing
// when the recorder was killed, and then the frames' rows are all there is.
struct Walk {
  TraceContents contents;
  std::uint64_t calls_in_frames = 0;
  std::map<std::uint64_t, format::trace::Counters> threads;

  void operator()(const format::trace::Counters& record) { threads[record.thread] = record; }
  void operator()(const format::trace::FrameThread& record) {
    calls_in_frames += record.allocs + record.frees + record.reallocs;
  }
  void operator()(const format::trace::Frame& record) { contents.has_frames |= record.kind == 0; }
  void operator()(const format::trace::Meta& record) {
    if (record.key == "game.exe") contents.executable = record.value;
  }
  template <class Record>
  void operator()(const Record&) {}
};

}  // namespace

std::optional<TraceContents> read_contents(const std::string& trace) {
  auto source = load::open_file(trace);
  if (!source) return std::nullopt;
  auto reader = load::TraceReader::open(*source);
  if (!reader) return std::nullopt;
  Walk walk;
  reader->for_each_record(walk);
  for (const auto& [thread, counters] : walk.threads) {
    walk.contents.calls += counters.allocs + counters.frees + counters.reallocs;
    walk.contents.map_calls += counters.map_calls;
  }
  walk.contents.calls = std::max(walk.contents.calls, walk.calls_in_frames);
  return walk.contents;
}

}  // namespace hitch::app
