#include "present/present.h"

#include <sys/resource.h>
#include <time.h>

#include "base/syscall.h"
#include "interpose/module_list.h"
#include "interpose/switches.h"
#include "record/recorder.h"

namespace hitch::present {
namespace {

// Set by the first hitch_frame_mark.
constinit bool g_marked = false;

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(time.tv_usec) * 1000u;
}

std::uint64_t thread_cpu_ns() {
  timespec now{};
  base::system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, base::word(&now));
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t low32(long value) { return static_cast<std::uint32_t>(value); }

void end_frame(record::ThreadState& state, format::Api api, std::uint64_t entry_ticks,
               std::uint64_t entry_cpu_ns) {
  {
    const record::HookScope scope(state);
    rusage thread{};
    rusage process{};
    base::system_call(SYS_getrusage, RUSAGE_THREAD, base::word(&thread));
    base::system_call(SYS_getrusage, RUSAGE_SELF, base::word(&process));
    format::FrameRecord record{};
    record.cpu_ns = thread_cpu_ns();
    record.cpu_ns_at_entry = entry_cpu_ns != 0 ? entry_cpu_ns : record.cpu_ns;
    record.api = static_cast<std::uint8_t>(api);
    record.sleep_ticks = state.slot->sleep_ticks;
    record.voluntary = low32(thread.ru_nvcsw);
    record.involuntary = low32(thread.ru_nivcsw);
    record.minor_faults = low32(thread.ru_minflt);
    record.major_faults = low32(thread.ru_majflt);
    record.process_minor_faults = low32(process.ru_minflt);
    record.process_major_faults = low32(process.ru_majflt);
    record.process_cpu_ns = nanoseconds(process.ru_utime) + nanoseconds(process.ru_stime);
    record.epoch = state.header->frame_epoch.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t exit_ticks = record::now(state);
    record.present_entry = (entry_ticks != 0 ? entry_ticks : exit_ticks) - state.tsc_base;
    record.head = format::make_head(format::BufferKind::kFrame, exit_ticks - state.tsc_base);
    append(scope, reinterpret_cast<const std::uint64_t*>(&record), sizeof record / 8);
  }
  interpose::announce_modules(state);
}

}  // namespace

PresentScope::PresentScope(format::Api api) : state_(record::enter()), api_(api) {
  if (state_ == nullptr) return;
  const std::uintptr_t sp = base::stack_pointer();
  // A present deeper than a running one is part of it. One above it means the other was left by
  // longjmp.
  if (!interpose::g_switches.present || g_marked ||
      (state_->present_sp != 0 && sp < state_->present_sp)) {
    state_ = nullptr;
    return;
  }
  state_->present_sp = sp;
  entry_cpu_ns_ = thread_cpu_ns();
  entry_ticks_ = record::now(*state_);
}

PresentScope::~PresentScope() {
  if (state_ == nullptr) return;
  state_->present_sp = 0;
  if (state_->guard != record::kIdle)
    return;  // a signal handler presents inside a hook: not a frame
  end_frame(*state_, api_, entry_ticks_, entry_cpu_ns_);
}

void mark_frame() {
  record::ThreadState* state = record::enter();
  if (state == nullptr) return;
  g_marked = true;
  end_frame(*state, format::Api::kMark, 0, 0);
}

SleepScope::SleepScope() : state_(record::enter()) {
  if (state_ == nullptr) return;
  const std::uintptr_t sp = base::stack_pointer();
  if (!interpose::g_switches.sleep || (state_->sleep_sp != 0 && sp < state_->sleep_sp)) {
    state_ = nullptr;
    return;
  }
  state_->sleep_sp = sp;
  entry_ticks_ = record::now(*state_);
}

SleepScope::~SleepScope() {
  if (state_ == nullptr) return;
  base::add_once(state_->slot->sleep_ticks, record::now(*state_) - entry_ticks_);
  state_->sleep_sp = 0;
}

}  // namespace hitch::present
