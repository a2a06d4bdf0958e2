// Any bytes as a block of kept events; and any events there and back.
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "format/event_block.h"

namespace {

using namespace hitch::format;

// Events out of raw bytes: seven of them and a small number each, so that predictors often hit.
std::vector<KeptEvent> events_of(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kBytes = 8;
  std::vector<KeptEvent> events;
  std::uint64_t key = 0;
  for (; size >= kBytes; data += kBytes, size -= kBytes) {
    KeptEvent event;
    key += static_cast<std::uint64_t>(data[0]) - 3;
    event.key = key;
    event.ticks = data[1];
    event.address = std::uint64_t{data[2]} << (data[3] % 48);
    event.site = data[4] % 16;
    event.thread = data[5] % 4;
    event.kind = static_cast<EventKind>(data[6] % 3);
    event.op = static_cast<Op>(data[7] % static_cast<unsigned>(Op::kCount));
    if (event.kind != EventKind::kFree) event.size = data[3] * std::uint64_t{data[7]};
    if (event.kind == EventKind::kRealloc) {
      event.old_address = data[1];
      event.outcome = static_cast<ReallocOutcome>(data[5] % 4);
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<KeptEvent> out;
  decode_events({reinterpret_cast<const char*>(data), size}, out);
  if (out.size() > kMostBlockEvents) __builtin_trap();

  const std::vector<KeptEvent> events = events_of(data, size);
  out.clear();
  if (!decode_events(encode_events(events, 0), out) || out != events) __builtin_trap();
  return 0;
}
