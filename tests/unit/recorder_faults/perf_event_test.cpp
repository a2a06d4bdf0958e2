// The kernel's own records of a child process: every fault, its thread, and its switches.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "recorder/faults/fault_source.h"

namespace hitch::faults {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 100;

// In the child: faults in known memory, of two threads, around a sleep.
struct Ground {
  std::atomic<int> begin;
  std::atomic<std::uint32_t> worker;
  std::uint64_t main_memory;
  std::uint64_t worker_memory;
};

void touch(std::uint64_t memory) {
  for (std::size_t i = 0; i < kPages; ++i) reinterpret_cast<volatile char*>(memory)[i * kPage] = 1;
}

class PerfEvent : public testing::Test {
 protected:
  PerfEvent() {
    void* shared =
        mmap(nullptr, sizeof(Ground), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ground_ = new (shared) Ground{};
    for (std::uint64_t* memory : {&ground_->main_memory, &ground_->worker_memory}) {
      void* pages =
          mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      madvise(pages, kPages * kPage, MADV_NOHUGEPAGE);
      *memory = reinterpret_cast<std::uint64_t>(pages);
    }
    child_ = fork();
    if (child_ == 0) {
      while (ground_->begin.load() == 0) usleep(500);
      touch(ground_->main_memory);
      std::thread worker([this] {
        ground_->worker = static_cast<std::uint32_t>(syscall(SYS_gettid));
        touch(ground_->worker_memory);
        usleep(20'000);
      });
      worker.join();
      _exit(0);
    }
  }
  ~PerfEvent() override {
    if (child_ > 0) waitpid(child_, nullptr, 0);
    for (const std::uint64_t memory : {ground_->main_memory, ground_->worker_memory})
      munmap(reinterpret_cast<void*>(memory), kPages * kPage);
    munmap(ground_, sizeof(Ground));
  }

  void let_go() {
    ground_->begin = 1;
    int status = 0;
    ASSERT_EQ(waitpid(child_, &status, 0), child_);
    child_ = -1;
  }

  Ground* ground_ = nullptr;
  pid_t child_ = -1;
};

TEST_F(PerfEvent, SeesEveryFaultOfEveryThread) {
  // Ticks that are nanoseconds.
  TickBridge bridge(1e9, 0);
  const std::uint64_t now = base::read_monotonic_raw();
  bridge.anchor(now, now);
  SourceConfig config;
  config.pid = child_;
  config.threads = {child_};
  std::string why;
  const auto source = open_perf_event(config, bridge, why);
  if (source == nullptr) {
    let_go();
    GTEST_SKIP() << "perf events are not to be had here: " << why;
  }
  let_go();
  std::vector<KernelEvent> events;
  source->read(events);
  EXPECT_TRUE(
      std::is_sorted(events.begin(), events.end(),
                     [](const KernelEvent& a, const KernelEvent& b) { return a.key < b.key; }));
  std::size_t main_faults = 0;
  std::size_t worker_faults = 0;
  std::uint64_t slept = 0;
  std::uint64_t out = 0;
  bool worker_ended = false;
  for (const KernelEvent& event : events) {
    EXPECT_GE(event.key, now);
    const bool worker = event.tid == ground_->worker;
    if (event.kind == KernelEventKind::kFault) {
      if (event.address - ground_->main_memory < kPages * kPage) {
        EXPECT_EQ(event.tid, static_cast<std::uint32_t>(config.pid));
        ++main_faults;
      }
      if (event.address - ground_->worker_memory < kPages * kPage) {
        EXPECT_TRUE(worker);
        ++worker_faults;
      }
    }
    if (!worker) continue;
    if (event.kind == KernelEventKind::kSwitchOut && !event.preempted) out = event.key;
    if (event.kind == KernelEventKind::kSwitchIn && out != 0) slept += event.key - out;
    if (event.kind == KernelEventKind::kSwitchIn) out = 0;
    worker_ended = worker_ended || event.kind == KernelEventKind::kThreadEnd;
  }
  EXPECT_EQ(main_faults, kPages);
  EXPECT_EQ(worker_faults, kPages);
  EXPECT_GE(slept, 19'000'000u);
  EXPECT_TRUE(worker_ended);
  EXPECT_EQ(source->counts().lost, 0u);
}

TEST_F(PerfEvent, AutoFallsBackWithOneSentence) {
  TickBridge bridge(1e9, 0);
  SourceConfig config;
  config.pid = child_;
  config.threads = {0x7ffffffe};  // a thread that is not there: as if events were refused
  const OpenedSource opened = open_source(config, bridge);
  ASSERT_NE(opened.source, nullptr);
  EXPECT_EQ(opened.source->kind(), SourceKind::kPagemap);
  EXPECT_NE(opened.note.find("perf_event_open fails"), std::string::npos) << opened.note;
  let_go();
}

TEST_F(PerfEvent, WhatIsAskedForIsWhatIsUsed) {
  TickBridge bridge(1e9, 0);
  SourceConfig config;
  config.pid = child_;
  config.threads = {child_};
  for (const auto& [wanted, kind] : {std::pair{Wanted::kPagemap, SourceKind::kPagemap},
                                     std::pair{Wanted::kCount, SourceKind::kCount},
                                     std::pair{Wanted::kNone, SourceKind::kNone}}) {
    config.wanted = wanted;
    const OpenedSource opened = open_source(config, bridge);
    EXPECT_EQ(opened.source->kind(), kind);
    EXPECT_TRUE(opened.note.empty()) << opened.note;
  }
  let_go();
}

}  // namespace
}  // namespace hitch::faults
