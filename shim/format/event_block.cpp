#include "format/event_block.h"

#include <array>
#include <memory>

#include "format/varint.h"

namespace hitch::format {
namespace {

enum Stream : std::size_t {
  kKinds,       // kind | thread differs << 2 | operation differs << 3
  kAllocTime,   // varint, time since the event before
  kFreeTime,    // the same
  kAllocTicks,  // varint, duration
  kFreeTicks,   // the same
  kAllocCtl,    // site: Guess | size as last time << 2 | place in the released stack << 3
  kFreeCtl,     // site: Guess
  kFreePlace,   // place among the thread's latest blocks, or kNone
  kSites,       // varint, where no guess was right
  kSizes,       // varint
  kAddresses,   // signed varint, distance to the thread's last address
  kThreads,     // varint
  kOps,         // one byte
  kReallocs,    // everything of a realloc, varints
  kStreams,
};

constexpr std::uint8_t kNone = 255;

// Of the guesses below. Whoever changes one of them, or a size of their tables, raises it.
constexpr std::uint64_t kGuesses = 1;

enum Guess : std::uint8_t { kByPair = 0, kByLast = 1, kUnguessed = 2 };

// What both sides remember of one thread.
class ThreadModel {
 public:
  static constexpr std::size_t kLatest = 128;
  static constexpr std::size_t kReleased = 12;
  static constexpr std::size_t kClasses = 68;

  // Guesses for the next site, from the last two and from the last.
  std::uint32_t guess(Guess by) const {
    return by == kByPair ? by_pair_[pair_place()] : by_last_[last_ & (kTable - 1)];
  }
  void learn_site(std::uint32_t site) {
    by_pair_[pair_place()] = site;
    by_last_[last_ & (kTable - 1)] = site;
    before_last_ = last_;
    last_ = site;
  }

  static std::size_t class_of(std::uint64_t size) {
    if (size <= 1024) return static_cast<std::size_t>((size + 23) / 16);
    return 65 + (size > 4096 ? 1 : 0) + (size > 65536 ? 1 : 0);
  }
  // The thread's latest blocks, newest first.
  std::uint8_t find_latest(std::uint64_t address) const {
    for (std::size_t i = 0; i < latest_count_; ++i) {
      if (latest_[(newest_ - i) & (kLatest - 1)].address == address)
        return static_cast<std::uint8_t>(i);
    }
    return kNone;
  }
  bool has_latest(std::uint8_t place) const { return place < latest_count_; }
  std::uint64_t latest(std::uint8_t place) const {
    return latest_[(newest_ - place) & (kLatest - 1)].address;
  }
  void add_latest(std::uint64_t address, std::uint64_t size) {
    newest_ = (newest_ + 1) & (kLatest - 1);
    latest_[newest_] = {address, size};
    if (latest_count_ < kLatest) ++latest_count_;
  }
  // Takes it out, and puts it on the released stack of its class.
  void release_latest(std::uint8_t place) {
    const Block block = latest_[(newest_ - place) & (kLatest - 1)];
    for (std::size_t i = place; i > 0; --i)
      latest_[(newest_ - i) & (kLatest - 1)] = latest_[(newest_ - i + 1) & (kLatest - 1)];
    newest_ = (newest_ - 1) & (kLatest - 1);
    --latest_count_;
    push_released(block.address, block.size);
  }

  void push_released(std::uint64_t address, std::uint64_t size) {
    Released& stack = released_[class_of(size)];
    if (stack.count == kReleased) {
      for (std::size_t i = 1; i < kReleased; ++i) stack.address[i - 1] = stack.address[i];
      --stack.count;
    }
    stack.address[stack.count++] = address;
  }
  // Place in the released stack, 0 the last released; 31: not in it.
  static constexpr std::uint8_t kNotReleased = 31;
  std::uint8_t find_released(std::uint64_t size, std::uint64_t address) const {
    const Released& stack = released_[class_of(size)];
    for (std::size_t i = 0; i < stack.count; ++i) {
      if (stack.address[stack.count - 1 - i] == address) return static_cast<std::uint8_t>(i);
    }
    return kNotReleased;
  }
  bool take_released(std::uint64_t size, std::uint8_t place, std::uint64_t& address) {
    Released& stack = released_[class_of(size)];
    if (place >= stack.count) return false;
    const std::size_t at = stack.count - 1 - place;
    address = stack.address[at];
    for (std::size_t i = at + 1; i < stack.count; ++i) stack.address[i - 1] = stack.address[i];
    --stack.count;
    return true;
  }

  std::uint64_t last_address = 0;

 private:
  static constexpr std::size_t kTable = 4096;
  struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
  };
  struct Released {
    std::uint64_t address[kReleased] = {};
    std::size_t count = 0;
  };
  std::size_t pair_place() const {
    return (last_ * 0x9E3779B1u ^ before_last_ * 0x85EBCA6Bu) >> 16 & (kTable - 1);
  }

  std::uint32_t last_ = 0;
  std::uint32_t before_last_ = 0;
  std::size_t newest_ = 0;
  std::size_t latest_count_ = 0;
  std::array<Block, kLatest> latest_{};
  std::array<Released, kClasses> released_{};
  std::array<std::uint32_t, kTable> by_pair_{};
  std::array<std::uint32_t, kTable> by_last_{};
};

// What both sides remember of a block's events so far.
class Model {
 public:
  // More threads than models share them: worse guesses, bounded memory on both sides.
  ThreadModel& thread(std::uint32_t id) {
    std::unique_ptr<ThreadModel>& model = threads_[id % kModels];
    if (model == nullptr) model = std::make_unique<ThreadModel>();
    return *model;
  }
  std::uint64_t& last_size(std::uint32_t site) { return sizes_[site & (kTable - 1)]; }
  Op& op_of(std::uint32_t site) { return ops_[site & (kTable - 1)]; }

 private:
  static constexpr std::size_t kTable = 1u << 15;
  static constexpr std::uint32_t kModels = 32;
  std::array<std::unique_ptr<ThreadModel>, kModels> threads_;
  std::vector<std::uint64_t> sizes_ = std::vector<std::uint64_t>(kTable);
  std::vector<Op> ops_ = std::vector<Op>(kTable, Op::kCount);
};

class Encoder {
 public:
  explicit Encoder(unsigned shift) : shift_(shift) {}

  void add(const KeptEvent& event) {
    const std::uint64_t time = event.key >> shift_;
    // Keys of one thread never fall; another thread's may lie a little before the last.
    const std::uint64_t delta = zigzag(static_cast<std::int64_t>(time - last_time_));
    last_time_ = time;
    const bool other_thread = first_ || event.thread != last_thread_;
    first_ = false;
    last_thread_ = event.thread;
    ThreadModel& thread = model_.thread(event.thread);
    Op& op = model_.op_of(event.site);
    const bool other_op = op != event.op;
    op = event.op;
    put(kKinds, static_cast<std::uint8_t>(static_cast<unsigned>(event.kind) |
                                          (other_thread ? 4u : 0u) | (other_op ? 8u : 0u)));
    if (other_thread) put_varint(streams_[kThreads], event.thread);
    const std::uint64_t ticks = event.ticks >> shift_;
    switch (event.kind) {
      case EventKind::kAlloc:
        put_varint(streams_[kAllocTime], delta);
        put_varint(streams_[kAllocTicks], ticks);
        alloc(event, thread);
        break;
      case EventKind::kFree:
        put_varint(streams_[kFreeTime], delta);
        put_varint(streams_[kFreeTicks], ticks);
        free(event, thread);
        break;
      default:
        for (const std::uint64_t value :
             {delta, ticks, std::uint64_t{event.site}, event.size, event.address, event.old_address,
              static_cast<std::uint64_t>(event.outcome)}) {
          put_varint(streams_[kReallocs], value);
        }
        thread.learn_site(event.site);
    }
    if (other_op) put(kOps, static_cast<std::uint8_t>(event.op));
  }

  std::string finish(std::size_t events) const {
    std::string out;
    put_varint(out, kGuesses);
    put_varint(out, shift_);
    put_varint(out, events);
    std::size_t bytes = 0;
    for (const std::string& stream : streams_) {
      put_varint(out, stream.size());
      bytes += stream.size();
    }
    out.reserve(out.size() + bytes);
    for (const std::string& stream : streams_) out += stream;
    return out;
  }

 private:
  void put(Stream stream, std::uint8_t byte) {
    streams_[stream].push_back(static_cast<char>(byte));
  }
  std::uint8_t site(std::uint32_t site, ThreadModel& thread) {
    std::uint8_t guess = kUnguessed;
    if (thread.guess(kByPair) == site) {
      guess = kByPair;
    } else if (thread.guess(kByLast) == site) {
      guess = kByLast;
    } else {
      put_varint(streams_[kSites], site);
    }
    thread.learn_site(site);
    return guess;
  }
  void address(std::uint64_t address, ThreadModel& thread) {
    put_varint(streams_[kAddresses],
               zigzag(static_cast<std::int64_t>(address - thread.last_address)));
  }
  void alloc(const KeptEvent& event, ThreadModel& thread) {
    unsigned control = site(event.site, thread);
    std::uint64_t& usual = model_.last_size(event.site);
    if (usual == event.size) {
      control |= 4;
    } else {
      put_varint(streams_[kSizes], event.size);
      usual = event.size;
    }
    const std::uint8_t place = thread.find_released(event.size, event.address);
    put(kAllocCtl, static_cast<std::uint8_t>(control | static_cast<unsigned>(place) << 3));
    std::uint64_t taken = 0;
    if (place == ThreadModel::kNotReleased) {
      address(event.address, thread);
    } else {
      thread.take_released(event.size, place, taken);
    }
    thread.last_address = event.address;
    thread.add_latest(event.address, event.size);
  }
  void free(const KeptEvent& event, ThreadModel& thread) {
    put(kFreeCtl, site(event.site, thread));
    const std::uint8_t place = thread.find_latest(event.address);
    put(kFreePlace, place);
    if (place == kNone) {
      address(event.address, thread);
    } else {
      thread.release_latest(place);
    }
    thread.last_address = event.address;
  }

  unsigned shift_;
  bool first_ = true;
  std::uint64_t last_time_ = 0;
  std::uint32_t last_thread_ = 0;
  Model model_;
  std::array<std::string, kStreams> streams_;
};

class Input {
 public:
  Input() = default;
  explicit Input(std::string_view bytes) : bytes_(bytes) {}
  bool byte(std::uint8_t& value) {
    if (bytes_.empty()) return false;
    value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return true;
  }
  bool varint(std::uint64_t& value) { return take_varint(bytes_, value); }

 private:
  std::string_view bytes_;
};

class Decoder {
 public:
  Decoder(unsigned shift, std::array<Input, kStreams> streams) : shift_(shift), streams_(streams) {}

  bool next(KeptEvent& event) {
    std::uint8_t kinds = 0;
    if (!streams_[kKinds].byte(kinds) || (kinds & 3) > 2 || kinds > 15) return false;
    event = {};
    event.kind = static_cast<EventKind>(kinds & 3);
    if ((kinds & 4) != 0) {
      std::uint64_t thread = 0;
      if (!streams_[kThreads].varint(thread) || thread > kMostThreads) return false;
      thread_ = static_cast<std::uint32_t>(thread);
      model_of_thread_ = &model_.thread(thread_);
    }
    if (model_of_thread_ == nullptr) return false;
    event.thread = thread_;
    ThreadModel& thread = *model_of_thread_;
    std::uint64_t delta = 0;
    std::uint64_t ticks = 0;
    switch (event.kind) {
      case EventKind::kAlloc:
        if (!streams_[kAllocTime].varint(delta) || !streams_[kAllocTicks].varint(ticks) ||
            !alloc(event, thread)) {
          return false;
        }
        break;
      case EventKind::kFree:
        if (!streams_[kFreeTime].varint(delta) || !streams_[kFreeTicks].varint(ticks) ||
            !free(event, thread)) {
          return false;
        }
        break;
      default:
        if (!realloc(event, thread, delta, ticks)) return false;
    }
    last_time_ += static_cast<std::uint64_t>(unzigzag(delta));
    event.key = last_time_ << shift_;
    event.ticks = ticks << shift_;
    Op& op = model_.op_of(event.site);
    if ((kinds & 8) != 0) {
      std::uint8_t other = 0;
      if (!streams_[kOps].byte(other) || other > static_cast<std::uint8_t>(Op::kCount))
        return false;
      op = static_cast<Op>(other);
    }
    event.op = op;
    return true;
  }

 private:
  static constexpr std::uint64_t kMostThreads = 1u << 24;

  bool site(std::uint8_t guess, ThreadModel& thread, std::uint32_t& site) {
    if (guess == kUnguessed) {
      std::uint64_t value = 0;
      if (!streams_[kSites].varint(value) || value > 0xffffffffu) return false;
      site = static_cast<std::uint32_t>(value);
    } else if (guess == kByPair || guess == kByLast) {
      site = thread.guess(static_cast<Guess>(guess));
    } else {
      return false;
    }
    thread.learn_site(site);
    return true;
  }
  bool address(ThreadModel& thread, std::uint64_t& address) {
    std::uint64_t distance = 0;
    if (!streams_[kAddresses].varint(distance)) return false;
    address = thread.last_address + static_cast<std::uint64_t>(unzigzag(distance));
    return true;
  }
  bool alloc(KeptEvent& event, ThreadModel& thread) {
    std::uint8_t control = 0;
    if (!streams_[kAllocCtl].byte(control) || !site(control & 3, thread, event.site)) return false;
    std::uint64_t& usual = model_.last_size(event.site);
    if ((control & 4) == 0 && !streams_[kSizes].varint(usual)) return false;
    event.size = usual;
    const auto place = static_cast<std::uint8_t>(control >> 3);
    if (place == ThreadModel::kNotReleased
            ? !address(thread, event.address)
            : !thread.take_released(event.size, place, event.address))
      return false;
    thread.last_address = event.address;
    thread.add_latest(event.address, event.size);
    return true;
  }
  bool free(KeptEvent& event, ThreadModel& thread) {
    std::uint8_t guess = 0;
    std::uint8_t place = 0;
    if (!streams_[kFreeCtl].byte(guess) || !site(guess, thread, event.site) ||
        !streams_[kFreePlace].byte(place)) {
      return false;
    }
    if (place == kNone) {
      if (!address(thread, event.address)) return false;
    } else {
      if (!thread.has_latest(place)) return false;
      event.address = thread.latest(place);
      thread.release_latest(place);
    }
    thread.last_address = event.address;
    return true;
  }
  bool realloc(KeptEvent& event, ThreadModel& thread, std::uint64_t& delta, std::uint64_t& ticks) {
    std::uint64_t site = 0;
    std::uint64_t outcome = 0;
    Input& in = streams_[kReallocs];
    if (!in.varint(delta) || !in.varint(ticks) || !in.varint(site) || !in.varint(event.size) ||
        !in.varint(event.address) || !in.varint(event.old_address) || !in.varint(outcome) ||
        site > 0xffffffffu || outcome > static_cast<std::uint64_t>(ReallocOutcome::kFreed)) {
      return false;
    }
    event.site = static_cast<std::uint32_t>(site);
    event.outcome = static_cast<ReallocOutcome>(outcome);
    thread.learn_site(event.site);
    return true;
  }

  unsigned shift_;
  std::array<Input, kStreams> streams_;
  std::uint64_t last_time_ = 0;
  std::uint32_t thread_ = 0;
  ThreadModel* model_of_thread_ = nullptr;
  Model model_;
};

}  // namespace

unsigned event_shift(std::uint64_t ticks_per_second) {
  unsigned shift = 0;
  while ((std::uint64_t{2} << shift) * 250'000'000 <= ticks_per_second) ++shift;
  return shift;
}

std::string encode_events(std::span<const KeptEvent> events, unsigned shift) {
  Encoder encoder(shift);
  for (const KeptEvent& event : events) encoder.add(event);
  return encoder.finish(events.size());
}

bool decode_events(std::string_view bytes, std::vector<KeptEvent>& out) {
  std::uint64_t guesses = 0;
  std::uint64_t shift = 0;
  std::uint64_t events = 0;
  if (!take_varint(bytes, guesses) || guesses != kGuesses || !take_varint(bytes, shift) ||
      shift > 20 || !take_varint(bytes, events) || events > kMostBlockEvents) {
    return false;
  }
  std::array<std::uint64_t, kStreams> lengths{};
  for (std::uint64_t& length : lengths) {
    if (!take_varint(bytes, length)) return false;
  }
  std::array<Input, kStreams> streams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    if (lengths[i] > bytes.size()) return false;
    streams[i] = Input(bytes.substr(0, lengths[i]));
    bytes.remove_prefix(lengths[i]);
  }
  Decoder decoder(static_cast<unsigned>(shift), streams);
  for (std::uint64_t i = 0; i < events; ++i) {
    KeptEvent event;
    if (!decoder.next(event)) return false;
    out.push_back(event);
  }
  return bytes.empty();
}

}  // namespace hitch::format
