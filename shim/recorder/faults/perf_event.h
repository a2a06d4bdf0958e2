// The events of perf_event_open(2) that faults are captured with, and what their records hold.
// Capture and its price are made of the same event, so that the one is the price of the other.
#pragma once
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>

namespace hitch::faults {

// The fewest fields that do: the stack pointer alone would add a tenth to the price of a fault.
constexpr std::uint64_t kSampleType =
    PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;

// Payload of PERF_RECORD_SAMPLE with kSampleType.
struct PerfSample {
  std::uint64_t id;
  std::uint64_t ip;
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t time;  // CLOCK_MONOTONIC_RAW, ns
  std::uint64_t address;
};
// Of PERF_RECORD_SWITCH with sample_id_all; the identifier follows.
struct PerfSwitch {
  std::uint32_t pid;
  std::uint32_t tid;
  std::uint64_t time;
};
// Of PERF_RECORD_FORK and PERF_RECORD_EXIT.
struct PerfTask {
  std::uint32_t pid;
  std::uint32_t parent_pid;
  std::uint32_t tid;
  std::uint32_t parent_tid;
  std::uint64_t time;
};
// Of PERF_RECORD_LOST.
struct PerfLost {
  std::uint64_t id;
  std::uint64_t lost;
};

// None when the payload is shorter than that.
template <class Record>
std::optional<Record> read_as(const char* payload, std::size_t bytes) {
  Record record;
  if (bytes < sizeof record) return std::nullopt;
  std::memcpy(&record, payload, sizeof record);
  return record;
}

// Every occurrence of a software event is a sample.
inline perf_event_attr software_event(std::uint64_t config, bool exclude_kernel) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = config;
  attributes.sample_period = 1;
  attributes.sample_type = kSampleType;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC_RAW;
  attributes.exclude_kernel = exclude_kernel ? 1 : 0;
  attributes.exclude_hv = exclude_kernel ? 1 : 0;
  return attributes;
}

// The descriptor, or -1 with errno. Thread 0: the calling one; processor -1: any.
inline int open_event(const perf_event_attr& attributes, pid_t thread, int processor) {
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, thread, processor, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace hitch::faults
