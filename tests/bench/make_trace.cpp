// Writes a synthetic --keep all trace (support/synthetic_trace.h) for reader_cost.py.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/synthetic_trace.h"

int main(int count, char** words) {
  if (count < 3) {
    std::fputs("usage: make_trace FILE EVENTS [SEED]\n", stderr);
    return 2;
  }
  hitch::support::SyntheticTrace wanted;
  wanted.events = std::strtoull(words[2], nullptr, 10);
  if (count > 3) wanted.seed = std::strtoull(words[3], nullptr, 10);
  try {
    const auto truth = hitch::support::write_synthetic_trace(words[1], wanted);
    std::printf("%llu allocations, %llu releases (%llu from another thread), %llu frames\n",
                static_cast<unsigned long long>(truth.allocs),
                static_cast<unsigned long long>(truth.frees),
                static_cast<unsigned long long>(truth.foreign_frees),
                static_cast<unsigned long long>(truth.frames));
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "make_trace: %s\n", problem.what());
    return 1;
  }
  return 0;
}
