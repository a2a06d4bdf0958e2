// Memory that is touched for the first time in known frames by known functions: fresh
//
//   frame 2 + i   touch_after(): mallocs and touches 4 KiB << (2 * i), up to 64 MiB, and keeps it
//   frame 12      touch_inside(): a realloc copies 1 MiB into memory that was never touched
//   frame 14      read_into(): read(2) fills 3 MiB that were never touched
//   frames 16..25 churn(): 2 MiB above the mmap threshold, touched and released
//   frame 27      copy_after_fork(): a forked child holds the pages of 1 MiB that is written again
//
// Says how many minor faults the kernel counted for the thread from mark to mark of each of those
// frames, and which threads' worth of pages the buffers have.
#include <fcntl.h>
#include <hitchtrace/hitchtrace.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdint>

#include "say.h"

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMebibyte = 1024 * 1024;
constexpr int kFrames = 32;

long counted() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

void no_huge_pages(char* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t first = (kPage - address % kPage) % kPage;
  if (bytes > first + kPage)
    madvise(memory + first, (bytes - first) / kPage * kPage, MADV_NOHUGEPAGE);
}

[[gnu::noinline]] void touch(char* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  static_cast<volatile char*>(memory)[bytes - 1] = 1;
}

[[gnu::noinline]] char* touch_after(std::size_t bytes) {
  char* memory = static_cast<char*>(keep(std::malloc(bytes)));
  REQUIRE(memory != nullptr);
  no_huge_pages(memory, bytes);
  touch(memory, bytes);
  return memory;
}

// In the heap, not in mappings of their own, which would be moved and not copied; the block behind
// keeps the first one from growing where it is.
[[gnu::noinline]] char* touch_inside() {
  mallopt(M_MMAP_THRESHOLD, 32 * static_cast<int>(kMebibyte));
  char* memory = static_cast<char*>(keep(std::malloc(kMebibyte)));
  REQUIRE(memory != nullptr);
  touch(memory, kMebibyte);
  REQUIRE(keep(std::malloc(20 * kPage)) != nullptr);
  memory = static_cast<char*>(keep(std::realloc(memory, kMebibyte + kPage)));
  REQUIRE(memory != nullptr);
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  return memory;
}

[[gnu::noinline]] char* read_into() {
  char* memory = static_cast<char*>(keep(std::malloc(3 * kMebibyte)));
  REQUIRE(memory != nullptr);
  no_huge_pages(memory, 3 * kMebibyte);
  const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  REQUIRE(zero >= 0);
  REQUIRE(read(zero, memory, 3 * kMebibyte) == static_cast<ssize_t>(3 * kMebibyte));
  close(zero);
  return memory;
}

[[gnu::noinline]] void churn() { std::free(touch_after(2 * kMebibyte)); }

[[gnu::noinline]] void copy_after_fork(char* memory) {
  int ends[2];
  REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  REQUIRE(child > 0);
  touch(memory, kMebibyte);
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

}  // namespace

int main() {
  // From now on the threshold stays where it is.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  mallopt(M_TRIM_THRESHOLD, 128 * 1024);
  char* to_copy = touch_after(kMebibyte);
  long faults[kFrames] = {};
  hitch_frame_mark();
  for (int frame = 1; frame < kFrames; ++frame) {
    const long before = counted();
    if (frame >= 2 && frame <= 9) keep(touch_after(kPage << (2 * (frame - 2))));
    if (frame == 12) keep(touch_inside());
    if (frame == 14) keep(read_into());
    if (frame >= 16 && frame <= 25) churn();
    if (frame == 27) copy_after_fork(to_copy);
    allocate_pairs(10);
    const timespec pause{0, 4'000'000};
    nanosleep(&pause, nullptr);
    faults[frame] = counted() - before;
    hitch_frame_mark();
  }
  say("{\"ok\": true, \"f2\": %ld, \"f3\": %ld, \"f4\": %ld, \"f5\": %ld, \"f6\": %ld, \"f7\": "
      "%ld, "
      "\"f8\": %ld, \"f9\": %ld, \"f12\": %ld, \"f14\": %ld, \"f16\": %ld, \"f25\": %ld, \"f27\": "
      "%ld}\n",
      faults[2], faults[3], faults[4], faults[5], faults[6], faults[7], faults[8], faults[9],
      faults[12], faults[14], faults[16], faults[25], faults[27]);
  return 0;
}
