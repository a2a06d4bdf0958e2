#include "viewer/load/event_stream.h"

#include <type_traits>

namespace hitch::load {

EventStreamResult for_each_event_block(
    TraceReader& reader, const std::function<void(std::span<const format::KeptEvent>)>& visit) {
  constexpr std::size_t kMostWarnings = 10;
  EventStreamResult result;
  std::uint64_t expected = 0;
  std::vector<format::KeptEvent> events;
  reader.for_each_record([&](const auto& record) {
    using Record = std::decay_t<decltype(record)>;
    if constexpr (std::is_same_v<Record, format::trace::Events>) {
      if (record.number > expected) result.missing += record.number - expected;
      expected = record.number + record.count;
      events.clear();
      if (!format::decode_events(record.block, events) || events.size() != record.count) {
        if (record.count > events.size()) result.missing += record.count - events.size();
        if (result.warnings.size() < kMostWarnings) {
          result.warnings.push_back("the block of events from number " +
                                    std::to_string(record.number) +
                                    " on is damaged: " + std::to_string(events.size()) + " of " +
                                    std::to_string(record.count) + " can be read");
        }
      }
      result.events += events.size();
      visit(events);
    }
  });
  return result;
}

}  // namespace hitch::load
