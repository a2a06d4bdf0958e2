// What fault_cost.py measures from outside: fault_loop touch ROUNDS | threads ROUNDS | switch
// ROUNDS
//   touch    a fresh 8 MiB buffer, touched page by page and released; ns a page
//   threads  a thread that starts, allocates once and ends; ns a thread
//   switch   two threads that hand a byte to and fro through pipes; ns a hand-over
// Prints the smallest of the rounds.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr std::size_t kBytes = std::size_t{8} << 20;
constexpr std::size_t kPage = 4096;
constexpr int kThreads = 200;
constexpr int kHandOvers = 4000;

double now_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// By mmap: glibc would learn from the first release and recycle the next buffer.
double touch() {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  const double begin = now_ns();
  for (std::size_t at = 0; at < kBytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  const double took = now_ns() - begin;
  munmap(memory, kBytes);
  return took / (kBytes / kPage);
}

double start_threads() {
  const double begin = now_ns();
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] {
      void* volatile block = std::malloc(64);
      std::free(block);
    }).join();
  }
  return (now_ns() - begin) / kThreads;
}

void pass(int from, int to, int times) {
  char byte = 0;
  for (int i = 0; i < times; ++i) {
    if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1) std::abort();
  }
}

double hand_over() {
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) std::abort();
  std::thread other([&] { pass(there[0], back[1], kHandOvers); });
  const double begin = now_ns();
  char byte = 1;
  for (int i = 0; i < kHandOvers; ++i) {
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) std::abort();
  }
  const double took = now_ns() - begin;
  other.join();
  for (const int end : {there[0], there[1], back[0], back[1]}) close(end);
  return took / (2.0 * kHandOvers);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: fault_loop touch|threads|switch ROUNDS\n", stderr);
    return 2;
  }
  double best = 1e18;
  for (int round = 0; round < std::atoi(words[2]); ++round) {
    double took = 0;
    if (std::strcmp(words[1], "touch") == 0) took = touch();
    if (std::strcmp(words[1], "threads") == 0) took = start_threads();
    if (std::strcmp(words[1], "switch") == 0) took = hand_over();
    best = std::min(best, took);
  }
  std::printf("%.1f\n", best);
  return 0;
}
