#include "recorded_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace hitch::record {

// The tests' stand-in for session/: a RecordedProcess has set g_process already, or nothing is
// recorded.
bool start_process(bool) { return g_process != nullptr && g_process->header != nullptr; }

}  // namespace hitch::record

namespace hitch::testing {

void Collector::on_events(std::span<const drain::Event> batch) {
  for (const drain::Event& event : batch) {
    words.emplace_back(event.words, event.words + (event.words != nullptr ? event.word_count : 0));
    events.push_back(event);
    events.back().words = nullptr;
  }
}

void Collector::on_thread_end(std::uint32_t, const drain::SlotCounters& counters) {
  total.allocs += counters.allocs;
  total.frees += counters.frees;
  total.reallocs += counters.reallocs;
  total.null_frees += counters.null_frees;
  total.alloc_bytes += counters.alloc_bytes;
  total.realloc_bytes += counters.realloc_bytes;
  total.alloc_ticks += counters.alloc_ticks;
  total.nested_calls += counters.nested_calls;
  total.abandoned_calls += counters.abandoned_calls;
}

std::uint64_t Collector::count(format::BufferKind kind) const {
  std::uint64_t n = 0;
  for (const drain::Event& event : events) n += event.kind == kind ? 1 : 0;
  return n;
}

RecordedProcess::RecordedProcess(Settings settings)
    : states_(format::kSlotCount), memos_(format::kSlotCount) {
  drain::PoolError error;
  pool_ = drain::SharedPool::create(settings.pool_bytes, error);
  EXPECT_NE(pool_, nullptr) << error.what;
  format::SharedHeader& header = pool_->header();
  header.level = static_cast<std::uint32_t>(settings.level);
  header.time_mode = static_cast<std::uint32_t>(settings.time);
  header.outlier_ticks = settings.outlier_ticks;
  header.tsc_base = base::read_tsc() - 1000;
  header.recording.store(1);
  const std::uint64_t base = header.tsc_base;
  drainer_ = std::make_unique<drain::Drainer>(*pool_, collector_,
                                              [base] { return base::read_tsc() - base; });
  process_.header = &header;
  process_.base = reinterpret_cast<char*>(&header);
  process_.geometry = pool_->geometry();
  process_.states = states_.data();
  process_.memos = memos_.data();
  record::g_process = &process_;
  record::g_start = static_cast<std::uint32_t>(record::Start::kRecording);
}

RecordedProcess::~RecordedProcess() {
  record::g_process = nullptr;
  record::g_start = static_cast<std::uint32_t>(record::Start::kNotTried);
  record::hitch_thread_state = nullptr;
}

const Collector& RecordedProcess::finish() {
  drainer_->finish();
  return collector_;
}

void RecordedProcess::wipe() {
  std::memset(static_cast<void*>(states_.data()), 0, states_.size() * sizeof(record::ThreadState));
  process_ = {};
}

void* traced_malloc(std::size_t size) {
  return record::traced_alloc(format::Op::kMalloc, size, 0x1234,
                              [size] { return std::malloc(size); });
}

void traced_release(void* block) {
  record::traced_free(format::Op::kFree, block, 0x5678, [block] { std::free(block); });
}

void* traced_resize(void* block, std::size_t size) {
  return record::traced_realloc(block, size, 0x9abc,
                                [block, size] { return std::realloc(block, size); });
}

}  // namespace hitch::testing
