// Joins what the kernel tells (faults/) with what the game's threads tell: which block a page fault
// belongs to and whether it happened inside an allocator call, when each thread was off the CPU and
// what the others did meanwhile, what code ran in frames that hitched.
//
// Both streams are worked off in key order: FrameAggregator calls take_until() before each event
// with a later key. The owner of a fault is looked up at that moment; whether a call encloses it is
// known when the thread's next record comes, or after kPatienceMs without one.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "recorder/faults/fault_source.h"
#include "recorder/frames/frame_timeline.h"
#include "recorder/frames/thread_kernel.h"
#include "recorder/resolve/address_space.h"
#include "recorder/resolve/block_ledger.h"
#include "recorder/resolve/mmaps.h"
#include "recorder/resolve/page_history.h"
#include "recorder/resolve/places.h"
#include "recorder/resolve/sites.h"
#include "recorder/resolve/texts.h"
#include "recorder/resolve/threads.h"

namespace hitch::frames {

struct AddressBounds {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool hold(std::uint64_t address) const { return address >= begin && address < end; }
};

// One allocator call of a thread. `block` is what it returned, of `size` bytes; 0: none.
struct CallSpan {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t site;
  std::uint64_t block;
  std::uint64_t size;
};

class KernelLog {
 public:
  struct Parts {
    resolve::RecordOut& out;
    resolve::BlockLedger& blocks;
    resolve::Modules& modules;
    resolve::Sites& sites;
    resolve::Texts& texts;
    resolve::Threads& threads;
    FrameTimeline& timeline;
  };
  // Threads that have made no allocator call yet, by the game's id: what number one gets, and that
  // it is gone.
  struct EarlyThreads {
    std::function<std::uint32_t(std::uint32_t tid)> number;
    std::function<void(std::uint32_t tid)> forget;
  };

  KernelLog(const Parts& parts, const resolve::ProcessFiles& files, std::uint64_t tsc_hz);

  // Null: nothing comes from the kernel. Must outlive this.
  void set_source(faults::FaultSource* source) { source_ = source; }
  // Without them nothing is known of such threads.
  void set_early_threads(EarlyThreads early) { early_ = std::move(early); }
  // The shim's own memory in the game.
  void set_own_memory(const std::array<AddressBounds, 2>& own) { own_ = own; }
  // Option faults none: what the game's presents bring is not kept either.
  bool ignores_faults() const {
    return source_ != nullptr && source_->kind() == faults::SourceKind::kNone;
  }
  bool sees_switches() const {
    return source_ != nullptr && source_->kind() == faults::SourceKind::kPerfEvent;
  }

  // Fetches what the kernel has told since the last call; before each drain, after its horizon was
  // chosen.
  void fetch();
  // Key of the next kernel event; all ones when there is none.
  std::uint64_t next_key() const { return next_key_; }
  // Works off everything before `key`.
  void take_until(std::uint64_t key);

  ThreadKernel* thread_started(std::uint32_t number, std::uint64_t key);
  // All its records were delivered.
  void thread_ended(std::uint32_t number);

  // A call of `thread` has ended: what the kernel told about its time belongs to it. Only when
  // thread.dirty; marks what came before it as outside of calls.
  void settle(ThreadKernel& thread, const CallSpan& call);
  struct CallFacts {
    std::uint64_t faults;
    OffTime off;
  };
  // About the thread's last call, or one that runs: it took `ticks` and was over by `end`.
  CallFacts facts_of(const ThreadKernel& thread, std::uint64_t ticks, std::uint64_t end) const;

  // The presenting thread ends the current frame at `exit`; before it is cut. Returns the time off
  // the CPU inside the present call.
  OffTime presented(std::uint32_t thread, std::uint64_t present_entry, std::uint64_t exit);
  // Of [begin, end], a call of another thread: how much the presenting thread was off the CPU.
  std::uint64_t waited_within(std::uint64_t begin, std::uint64_t end) const {
    if (presenter_ == nullptr) return 0;
    if (presenter_->off)
      return end > presenter_->open.begin ? end - std::max(begin, presenter_->open.begin) : 0;
    if (begin >= waited_until_) return 0;
    return presenter_->off_within(begin, end).ticks;
  }
  bool is_presenter(std::uint32_t thread) const {
    return presenter_ == nullptr || presenter_->number == thread;
  }

  // Blocks of at least kLargeBytes. `thread` released it: faults that wait are counted first.
  void large_allocated(std::uint64_t address, std::uint32_t site, std::uint64_t size);
  void large_freed(ThreadKernel& thread, std::uint64_t key, std::uint64_t address,
                   const resolve::LiveBlock& block, std::uint64_t frame);
  // By realloc, which moves the pages of a large block: no churn. 0: that side is not large.
  void large_reallocated(std::uint64_t old_address, std::uint64_t new_address);

  // What the game itself mapped and unmapped.
  resolve::Mmaps& mmaps() { return mmaps_; }

  // After each drain, and every verdict.
  void advance(std::uint64_t horizon, std::uint64_t now_ms);
  void judged(const format::trace::Frame& frame, bool is_hitch);
  void finish();
  // Addresses mean other code from now on.
  void forget_places() { places_.forget(); }

  static constexpr std::uint64_t kLargeBytes = 32 * 1024;
  static constexpr std::size_t kMostLarge = 1u << 20;

 private:
  struct Churn {
    std::uint64_t allocs = 0;
    std::uint64_t frees = 0;
    std::uint64_t bytes = 0;
    std::uint64_t short_lived = 0;
    std::uint64_t remapped = 0;
    std::uint64_t faults = 0;
    // Mappings given back for which none was taken again, and the faults in them.
    std::uint64_t open = 0;
    std::uint64_t open_faults = 0;
  };
  struct Sample {
    std::uint64_t key;
    std::uint64_t ip;
    std::uint32_t thread;
  };
  struct Watched {  // source pagemap: a large block
    std::uint64_t since;
    std::uint64_t resident;
    std::uint64_t looked_ms;
    bool seen;
  };

  // glibc gives large blocks a mapping of their own: two words, then the block.
  static bool has_own_mapping(std::uint64_t block) { return (block & 4095) == 16; }

  ThreadKernel* thread_of(std::uint32_t tid, std::uint64_t key);
  void take(const faults::KernelEvent& event);
  void close(ThreadKernel& thread);
  void take_fault(ThreadKernel& thread, const faults::KernelEvent& event);
  void take_fault_end(ThreadKernel& thread, const faults::KernelEvent& event);
  void switch_out(ThreadKernel& thread, const faults::KernelEvent& event);
  void switch_in(ThreadKernel& thread, const faults::KernelEvent& event);
  void add_off(std::uint32_t thread, const OffInterval& interval);
  void count_off(std::uint32_t thread, const OffInterval& interval);
  PendingFault attribute(const ThreadKernel& thread, const faults::KernelEvent& event);
  void count(ThreadKernel& thread, const PendingFault& fault, bool in_call);
  void settle_until(ThreadKernel& thread, std::uint64_t key);
  ThreadRow& row_at(std::uint32_t thread, std::uint64_t key);
  void look_at_pages(std::uint64_t now_ms);
  void choose_followed();
  void write_prices();
  void write_totals(const ThreadKernel& thread);
  void write_churn();

  Parts parts_;
  resolve::AddressSpace space_;
  resolve::Mmaps mmaps_;
  resolve::PageHistory history_;
  resolve::Places places_;
  faults::FaultSource* source_ = nullptr;
  EarlyThreads early_;
  std::array<AddressBounds, 2> own_{};
  std::vector<faults::KernelEvent> queue_;
  std::size_t taken_ = 0;
  std::uint64_t next_key_ = ~std::uint64_t{0};
  std::vector<std::unique_ptr<ThreadKernel>> threads_;        // by dense number
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  // by the recorder's thread id
  ThreadKernel* presenter_ = nullptr;
  // While the presenting thread is preempted: on which processor, since when a thread of the game
  // has that (0: none does), and for how long some had it.
  struct Taken {
    bool open = false;
    std::uint8_t processor = 0;
    std::uint64_t since = 0;
    std::uint64_t ticks = 0;
  } taken_cpu_;
  std::uint64_t waited_until_ = 0;  // end of the presenting thread's last time off the CPU
  std::deque<Sample> samples_;      // of frames without a verdict
  std::unordered_map<std::uint32_t, Churn> churn_;                 // by site
  std::unordered_map<std::uint64_t, std::uint64_t> large_faults_;  // by a live large block's start
  std::unordered_map<std::uint64_t, Watched> watched_;
  std::array<std::vector<std::uint32_t>, format::kFaultPriceClasses> prices_;  // ticks
  std::array<std::uint64_t, format::kFaultPriceClasses> priced_{};
  std::uint64_t hz_;
  std::uint64_t patience_;  // ticks
  std::uint64_t huge_region_ = 0;
  bool huge_answer_ = false;
  std::uint32_t forks_ = 0;
  std::uint64_t last_key_ = 0;
  std::uint64_t now_ms_ = 0;
  std::uint64_t prices_written_ms_ = 0;
  std::uint64_t followed_ms_ = 0;
};

}  // namespace hitch::frames
