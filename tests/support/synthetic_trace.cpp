#include "support/synthetic_trace.h"

#include <fcntl.h>

#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "recorder/frames/event_keeper.h"
#include "recorder/write/file_sink.h"
#include "recorder/write/trace_writer.h"

namespace hitch::support {
namespace {

namespace trace = format::trace;

// A size, and how many of a thousand allocations ask for it.
struct Share {
  std::uint32_t size;
  std::uint32_t thousandths;
};
constexpr std::array<Share, 20> kSizes = {{{16, 130}, {1047, 88}, {12, 62},  {24, 55},  {55, 51},
                                           {87, 51},  {39, 50},   {71, 50},  {8, 42},   {1, 36},
                                           {4, 34},   {31, 32},   {119, 29}, {535, 24}, {28, 23},
                                           {151, 20}, {32, 19},   {48, 18},  {64, 17},  {88, 14}}};

struct Block {
  std::uint64_t address;
  std::uint32_t size;
  std::uint32_t thread;
  std::uint32_t site;
};

class Generator {
 public:
  Generator(const std::string& path, const SyntheticTrace& wanted)
      : wanted_(wanted), random_(wanted.seed) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) throw std::runtime_error("cannot write " + path);
    writer_ = std::make_unique<write::TraceWriter>(
        std::make_unique<write::FileSink>(descriptor, path), kHz, 0);
    frames::EventKeeper::Config config;
    config.ticks_per_second = kHz;
    keeper_ = std::make_unique<frames::EventKeeper>(*writer_, config, [] {});
    for (const Share& share : kSizes) weights_.push_back(share.thousandths);
    rest_ = 1000;
    for (const Share& share : kSizes) rest_ -= share.thousandths;
    weights_.push_back(rest_);
    sizes_ = std::discrete_distribution<std::size_t>(weights_.begin(), weights_.end());
  }

  SyntheticTruth run() {
    names();
    for (std::uint64_t i = 0; i < wanted_.events; ++i) {
      if (i % wanted_.events_a_frame == 0 && i > 0) end_frame();
      now_ += 20 + random_() % 60;
      // Five of eight, or three of eight: the number of live blocks stays about what is wanted.
      const std::uint64_t eighths = live_.size() < wanted_.live ? 5 : 3;
      if (live_.empty() || random_() % 8 < eighths) {
        allocate();
      } else {
        release();
      }
    }
    end_frame();
    keeper_->finish();
    finish();
    return truth_;
  }

 private:
  static constexpr std::uint64_t kHz = 1'000'000'000;

  void names() {
    writer_->put(trace::Meta{"game.exe", "/synthetic"});
    writer_->put(trace::Calibration{0, 0, 0});
    trace::Module module;
    module.path = "/synthetic";
    module.start = 0x400000;
    module.end = 0x4000000;
    writer_->put(module);
    for (std::uint64_t i = 0; i < wanted_.threads; ++i)
      writer_->put(trace::Thread{i, 100 + i, "worker", 0});
    for (std::uint64_t i = 0; i < wanted_.stacks; ++i) {
      trace::Stack stack;
      stack.id = i;
      for (std::uint64_t depth = 0; depth < 12; ++depth) {
        stack.addresses.push_back(0x401000 + (depth < 3 ? i * 64 : i / 50 * 64) + depth * 4);
        stack.modules.push_back(1);
      }
      writer_->put(stack);
      writer_->put(trace::Site{i, stack.addresses[0], 1, 0, i + 1});
    }
    constexpr std::uint64_t kFreeOp = 7;
    for (std::uint64_t i = 0; i < wanted_.stacks; ++i)
      writer_->put(trace::Site{wanted_.stacks + i, 0x2000000 + i * 16, 1, kFreeOp, 0});
  }

  std::uint32_t size() {
    const std::size_t which = sizes_(random_);
    return which < kSizes.size() ? kSizes[which].size
                                 : static_cast<std::uint32_t>(1 + random_() % 4096);
  }

  void allocate() {
    Block block;
    block.thread = static_cast<std::uint32_t>(random_() % wanted_.threads);
    // Few call sites make most of the calls.
    const std::uint64_t few = random_() % 8 != 0 ? 64 : wanted_.stacks;
    block.site = static_cast<std::uint32_t>(random_() % std::min(few, wanted_.stacks));
    block.size = size();
    std::vector<std::uint64_t>& reusable = free_[block.size / 16 % free_.size()];
    if (reusable.empty()) {
      block.address = fresh_;
      fresh_ += (block.size + 31) / 16 * 16;
    } else {
      block.address = reusable.back();
      reusable.pop_back();
    }
    live_.push_back(block);
    ++truth_.allocs;
    truth_.bytes += block.size;
    truth_.live_bytes += block.size;
    keeper_->add({now_,
                  20 + random_() % 40,
                  block.address,
                  0,
                  block.size,
                  block.site,
                  block.thread,
                  format::EventKind::kAlloc,
                  format::Op::kMalloc,
                  {}});
  }

  void release() {
    // The last one, one of the last thousand, or any.
    const std::uint64_t kind = random_() % 10;
    std::size_t at = live_.size() - 1;
    if (kind >= 6) at -= random_() % std::min<std::size_t>(live_.size(), kind < 9 ? 1000 : ~0u);
    const Block block = live_[at];
    live_[at] = live_.back();
    live_.pop_back();
    std::uint32_t thread = block.thread;
    if (random_() % 10 < 3 && wanted_.threads > 1) {
      thread = static_cast<std::uint32_t>((thread + 1 + random_() % (wanted_.threads - 1)) %
                                          wanted_.threads);
      ++truth_.foreign_frees;
    }
    free_[block.size / 16 % free_.size()].push_back(block.address);
    ++truth_.frees;
    truth_.live_bytes -= block.size;
    keeper_->add({now_,
                  10 + random_() % 20,
                  block.address,
                  0,
                  0,
                  static_cast<std::uint32_t>(wanted_.stacks + block.site),
                  thread,
                  format::EventKind::kFree,
                  format::Op::kFree,
                  {}});
  }

  void end_frame() {
    trace::Frame frame;
    frame.id = truth_.frames++;
    frame.begin = frame_begin_;
    frame.end = now_;
    frame.thread = 1;
    frame.api = 3;
    writer_->put(frame);
    frame_begin_ = now_;
  }

  void finish() {
    truth_.live = live_.size();
    trace::Counters counters;
    counters.allocs = truth_.allocs;
    counters.frees = truth_.frees;
    counters.alloc_bytes = truth_.bytes;
    counters.recorded = truth_.allocs + truth_.frees;
    writer_->put(counters);
    writer_->put(trace::Calibration{now_, now_, now_});
    trace::End end;
    end.time = now_;
    end.reason = 1;
    writer_->finish(end);
    if (writer_->failed())
      throw std::runtime_error("the trace cannot be written: " + writer_->trouble());
  }

  SyntheticTrace wanted_;
  std::mt19937_64 random_;
  std::vector<double> weights_;
  double rest_ = 0;
  std::discrete_distribution<std::size_t> sizes_;
  std::unique_ptr<write::TraceWriter> writer_;
  std::unique_ptr<frames::EventKeeper> keeper_;
  std::vector<Block> live_;
  std::array<std::vector<std::uint64_t>, 512> free_;  // addresses by size class
  std::uint64_t fresh_ = 0x7f0000000000;
  std::uint64_t now_ = 1;
  std::uint64_t frame_begin_ = 0;
  SyntheticTruth truth_;
};

}  // namespace

SyntheticTruth write_synthetic_trace(const std::string& path, const SyntheticTrace& wanted) {
  return Generator(path, wanted).run();
}

}  // namespace hitch::support
