// The clock of every record. Plain rdtsc: fences double its price, and its few-ns slack is far
// below what is measured (../ARCHITECTURE.md has the figures). When the TSC is not invariant,
// CLOCK_MONOTONIC_RAW.
#pragma once
#include <cpuid.h>
#include <time.h>
#include <x86intrin.h>

#include <cstdint>

#include "base/compiler.h"

namespace hitch::base {

HITCH_FAST std::uint64_t read_tsc() { return __rdtsc(); }

inline std::uint64_t read_monotonic_raw() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// True when the CPU promises a TSC that runs at one rate through frequency changes and sleep states
// (CPUID 8000_0007 EDX bit 8, AMD and Intel manuals "Invariant TSC").
inline bool tsc_is_invariant() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

}  // namespace hitch::base
