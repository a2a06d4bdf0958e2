// Blocks of kept events (record Events, option keep): what every allocation, release and realloc
// was, in three or four bytes each.
//
// A block holds its events in drain order, taken apart into streams of like bytes, which the
// chunk's zstd then compresses. Both sides keep the same predictors, and mostly only "as predicted"
// is written: the site that followed the last time, the size this site asked for last, the address
// that the thread released last among blocks of this size, the block that was allocated a few
// events ago. Predictors start empty in each block, so that a block needs no other.
//
// Layout: varint version of the guesses; varint shift; varint events; for each stream a varint
// length; the streams. FORMAT.md lists them. Times and durations are in units of 2^shift ticks,
// rounded down; the order of events is kept.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/buffer_records.h"

namespace hitch::format {

enum class EventKind : std::uint8_t { kAlloc = 0, kFree = 1, kRealloc = 2 };
enum class ReallocOutcome : std::uint8_t { kMoved, kInPlace, kFailed, kFreed };

struct KeptEvent {
  std::uint64_t key = 0;      // ticks at the start of the call
  std::uint64_t ticks = 0;    // duration
  std::uint64_t address = 0;  // the block; of a realloc: what it is afterwards, 0 when it was freed
  std::uint64_t old_address = 0;  // reallocs: the block before
  std::uint64_t size = 0;         // requested; 0 for releases
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  EventKind kind = EventKind::kAlloc;
  Op op = Op::kMalloc;
  ReallocOutcome outcome = ReallocOutcome::kMoved;  // reallocs

  friend bool operator==(const KeptEvent&, const KeptEvent&) = default;
};

constexpr std::size_t kMostBlockEvents = std::size_t{1} << 17;

// Bits of a tick that are not kept: a unit of 2^shift ticks is about 4 ns.
unsigned event_shift(std::uint64_t ticks_per_second);

std::string encode_events(std::span<const KeptEvent> events, unsigned shift);

// Appends the block's events. False: the bytes make no sense; `out` then ends before the first
// event that does not.
bool decode_events(std::string_view bytes, std::vector<KeptEvent>& out);

}  // namespace hitch::format
