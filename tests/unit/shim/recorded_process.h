// A pool, a process and a drainer in one: what the hooks' bodies need in order to record inside a
// test.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "record/process.h"
#include "record/recorder.h"
#include "recorder/drain/drainer.h"
#include "recorder/drain/shared_pool.h"

namespace hitch::testing {

// Collects everything drained.
class Collector : public drain::EventSink {
 public:
  void on_thread_start(std::uint32_t, std::uint32_t) override { ++threads; }
  void on_events(std::span<const drain::Event> batch) override;
  void on_loss(std::uint32_t, const drain::Loss& loss) override {
    lost += loss.events;
    lost_bytes += loss.bytes;
  }
  void on_thread_end(std::uint32_t, const drain::SlotCounters& counters) override;

  std::uint64_t count(format::BufferKind kind) const;

  std::vector<drain::Event> events;
  std::vector<std::vector<std::uint64_t>> words;  // of kinds that are not taken apart
  drain::SlotCounters total;
  std::uint64_t threads = 0;
  std::uint64_t lost = 0;
  std::uint64_t lost_bytes = 0;
};

// Exactly one may exist at a time; the constructor makes this process "recorded", the destructor
// undoes it.
class RecordedProcess {
 public:
  struct Settings {
    format::Level level = format::Level::kTrace;
    format::TimeMode time = format::TimeMode::kAll;
    std::uint64_t outlier_ticks = ~std::uint64_t{0};
    std::uint64_t pool_bytes = 1 << 20;
  };
  RecordedProcess() : RecordedProcess(Settings{}) {}
  explicit RecordedProcess(Settings settings);
  ~RecordedProcess();

  drain::SharedPool& pool() { return *pool_; }
  drain::Drainer& drainer() { return *drainer_; }
  // Drains what is left, ends all threads and returns what was collected.
  const Collector& finish();
  const Collector& collected() const { return collector_; }
  // What fork does to a child: private state reads as zero.
  void wipe();

 private:
  std::unique_ptr<drain::SharedPool> pool_;
  std::vector<record::ThreadState> states_;
  std::vector<unwind::StackMemo> memos_;
  record::Process process_{};
  Collector collector_;
  std::unique_ptr<drain::Drainer> drainer_;
};

// A test's own malloc and free, through the hooks' bodies.
void* traced_malloc(std::size_t size);
void traced_release(void* block);
void* traced_resize(void* block, std::size_t size);

}  // namespace hitch::testing
