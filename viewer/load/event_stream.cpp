#include "viewer/load/event_stream.h"

#include <algorithm>
#include <map>
#include <type_traits>

namespace hitch::load {

EventStreamResult for_each_event_block(
    TraceReader& reader, const std::function<void(std::span<const format::KeptEvent>)>& visit) {
  constexpr std::size_t kMostWarnings = 10;
  EventStreamResult result;
  std::uint64_t expected = 0;
  std::uint64_t given_up = 0;
  std::map<std::uint64_t, std::uint64_t> recorded;  // by thread, as its counters say
  std::vector<format::KeptEvent> events;
  const auto warn = [&](std::uint64_t number, const std::string& what) {
    if (result.warnings.size() < kMostWarnings) {
      result.warnings.push_back("the block of events from number " + std::to_string(number) +
                                " on " + what);
    }
  };
  reader.for_each_record([&](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, format::trace::Counters>)
      recorded[record.thread] = record.recorded;
    if constexpr (std::is_same_v<Record, format::trace::GivenUp>) given_up += record.events;
    if constexpr (std::is_same_v<Record, format::trace::Events>) {
      if (record.count > format::kMostBlockEvents || record.number < expected) {
        warn(record.number, "makes no sense and is left out");
        return;
      }
      const std::uint64_t jump = record.number - expected;
      result.skipped += std::min(record.skipped, jump);
      result.missing += jump - std::min(record.skipped, jump);
      expected = record.number + record.count;
      if (record.count == 0) return;
      events.clear();
      if (!format::decode_events(record.block, events) || events.size() != record.count) {
        if (events.size() > record.count) events.resize(record.count);
        result.missing += record.count - events.size();
        warn(record.number, "is damaged: " + std::to_string(events.size()) + " of " +
                                std::to_string(record.count) + " can be read");
      }
      result.events += events.size();
      visit(events);
    }
  });
  // What was lost behind the last block, by the counters of the run's end.
  std::uint64_t all = 0;
  for (const auto& [thread, count] : recorded) all += count;
  if (expected > 0 && all > expected) result.missing += all - expected;
  given_up = std::min(given_up, result.missing);
  result.given_up = given_up;
  result.missing -= given_up;
  return result;
}

}  // namespace hitch::load
