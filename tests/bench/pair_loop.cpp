// The loop that shim_cost.py prices: allocate, touch, release, with nothing between. Prints one
// line of JSON with the smallest time per pair over many short rounds, and the price of the clock
// in the same process.
//
//   pair_loop [--threads N] [--pairs N] [--array | --deep]
//   --array: new int[16] instead of malloc(64); --deep: 30 calls deep, the innermost two of them
//   other ones than the time before
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

namespace {

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void escape(void* block) { asm volatile("" : : "r"(block) : "memory"); }

void run_malloc(unsigned pairs) {
  for (unsigned i = 0; i < pairs; ++i) {
    auto* block = static_cast<volatile int*>(std::malloc(64));
    block[0] = 1;
    escape(const_cast<int*>(block));
    std::free(const_cast<int*>(block));
  }
}

void run_array(unsigned pairs) {
  for (unsigned i = 0; i < pairs; ++i) {
    auto* block = new int[16];
    block[0] = 1;
    escape(block);
    delete[] block;
  }
}

// Two ways to the same allocation: each pair leaves one and takes the other.
template <int Way>
[[gnu::noinline]] int* deepest() {
  auto* block = static_cast<int*>(std::malloc(64));
  escape(block);
  return block;
}
template <int Way>
[[gnu::noinline]] int* deeper() {
  int* block = deepest<Way>();
  escape(block);
  return block;
}

// Called from one place, so that what is fresh lies below it.
int* (*volatile ways[2])() = {deeper<0>, deeper<1>};

[[gnu::noinline]] void run_below(unsigned pairs, unsigned depth) {
  if (depth > 0) {
    run_below(pairs, depth - 1);
    asm volatile("" : : : "memory");
    return;
  }
  for (unsigned i = 0; i < pairs; ++i) {
    int* block = ways[i % 2]();
    block[0] = 1;
    escape(block);
    std::free(block);
  }
}

void run_deep(unsigned pairs) {
  constexpr unsigned kAround = 6;  // main, work, price and what comes before them
  run_below(pairs, 30 - 2 - kAround);
}

// Smallest nanoseconds a pair over rounds of `round` pairs, in this thread's CPU time.
double price(void (*body)(unsigned), unsigned pairs, unsigned round) {
  double best = 1e9;
  for (unsigned done = 0; done < pairs; done += round) {
    const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    body(round);
    best = std::min(best, (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) / round * 1e9);
  }
  return best;
}

double clock_price() {
  constexpr unsigned kReads = 20000;
  double best = 1e9;
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    std::uint64_t sum = 0;
    const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < kReads; ++i) sum += __rdtsc();
    best = std::min(best, (seconds(CLOCK_THREAD_CPUTIME_ID) - begin) / kReads * 1e9);
    asm volatile("" : : "r"(sum));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  unsigned threads = 1;
  unsigned pairs = 1000000;
  void (*body)(unsigned) = run_malloc;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc)
      threads = static_cast<unsigned>(std::atoi(argv[++i]));
    if (std::strcmp(argv[i], "--pairs") == 0 && i + 1 < argc)
      pairs = static_cast<unsigned>(std::atoi(argv[++i]));
    if (std::strcmp(argv[i], "--array") == 0) body = run_array;
    if (std::strcmp(argv[i], "--deep") == 0) body = run_deep;
  }
  body(20000);
  const double clock = clock_price();
  std::vector<double> results(threads);
  std::atomic<unsigned> ready{0};
  const auto work = [&](unsigned index) {
    ready.fetch_add(1);
    while (ready.load() < threads) {
    }
    results[index] = price(body, pairs, 20000);
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& thread : others) thread.join();
  double sum = 0;
  for (const double result : results) sum += result;
  std::printf("{\"pair_ns\": %.3f, \"clock_ns\": %.3f}\n", sum / threads, clock);
}
