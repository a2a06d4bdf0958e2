#include "plants.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <condition_variable>

namespace combat {
namespace {

constexpr double kPlantMs = 6.0;
constexpr std::size_t kSettings = 1500;
constexpr std::size_t kSamples = 8;  // of a measurement
constexpr int kWarmRounds = 100;
constexpr std::size_t kMebibyte = 1024 * 1024;
constexpr std::size_t kPage = 4096;

double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Processor time of one call, in ms: the median of a few.
template <class Work>
double measure_ms(Work&& work) {
  std::array<double, kSamples> times{};
  for (double& time : times) {
    const double start = thread_cpu_ms();
    work();
    time = thread_cpu_ms() - start;
  }
  std::sort(times.begin(), times.end());
  return std::max(times[times.size() / 2], 1e-3);
}

void touch(char* memory, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPage) memory[at] = 1;
}

// By mmap, not malloc: glibc would learn from the release of a large block and recycle the next
// one. In one go: pages that were just given back are still in the cache and come cheaper.
double first_touch_ms_per_mebibyte() {
  constexpr std::size_t kMebibytes = 64;
  constexpr std::size_t kBytes = kMebibytes * kMebibyte;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  madvise(memory, kBytes, MADV_NOHUGEPAGE);
  auto* next = static_cast<char*>(memory);
  const double ms = measure_ms([&] {
    touch(next, kBytes / kSamples);
    next += kBytes / kSamples;
  });
  munmap(memory, kBytes);
  return ms * kSamples / kMebibytes;
}

}  // namespace

Plants::Plants(Jobs& jobs, std::uint64_t seed) : jobs_(jobs), random_(seed), settings_(kSettings) {
  constexpr int kRounds = 20;
  reload_settings(kWarmRounds);  // from now on the heap has this much warm memory
  const double reload_ms = measure_ms([&] { reload_settings(kRounds); }) / kRounds;
  reload_rounds_ = static_cast<int>(std::ceil(kPlantMs / reload_ms));
  const double path_ms = measure_ms([&] { find_paths(kRounds); }) / kRounds;
  path_rounds_ = static_cast<int>(std::ceil(kPlantMs / path_ms));
  const double bytes = kPlantMs / first_touch_ms_per_mebibyte() * kMebibyte;
  terrain_bytes_ =
      std::clamp<std::size_t>(static_cast<std::size_t>(bytes), 2 * kMebibyte, 64 * kMebibyte);
  terrain_.reserve(64);
}

double Plants::run(Plant plant) {
  const auto start = std::chrono::steady_clock::now();
  switch (plant) {
    case Plant::kAlloc:
      reload_settings(reload_rounds_);
      break;
    case Plant::kFault:
      terrain_.push_back(load_terrain());
      break;
    case Plant::kLock:
      save_while_locked();
      break;
    case Plant::kWait:
      stream_terrain();
      break;
    case Plant::kCpu:
      find_paths(path_rounds_);
      break;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

// Replaces every setting in random order: sizes and order defeat the allocator's caches.
void Plants::reload_settings(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kSettings / 10; ++i) {
      Block& setting = settings_[random_.below(kSettings)];
      setting.reset();
      setting.reset(new char[24 + random_.below(2000)]);
      setting[0] = 1;
    }
  }
}

// Terrain stays loaded: memory given back would not be fresh the next time.
// In small pages everywhere: with huge ones the cause would be another.
Plants::Block Plants::load_terrain() {
  Block terrain(new char[terrain_bytes_]);
  const auto address = reinterpret_cast<std::uintptr_t>(terrain.get());
  char* first_page = terrain.get() + (kPage - address % kPage);
  madvise(first_page, terrain_bytes_ - kPage, MADV_NOHUGEPAGE);
  touch(terrain.get(), terrain_bytes_);
  return terrain;
}

void Plants::find_paths(int rounds) {
  float length = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int step = 1; step < 2000; ++step)
      length += std::sqrt(static_cast<float>(step) + length * 0.5f);
  }
  path_length_ = length;
}

// A worker saves the game and holds the lock meanwhile; the main thread wants to add a line.
void Plants::save_while_locked() {
  std::mutex mutex;
  std::condition_variable started;
  bool holding = false;
  jobs_.submit([&] {
    const std::lock_guard saving(saving_);
    {
      const std::lock_guard lock(mutex);
      holding = true;
      started.notify_one();
    }
    find_paths(path_rounds_);
  });
  {
    std::unique_lock lock(mutex);
    started.wait(lock, [&] { return holding; });
  }
  { const std::lock_guard saving(saving_); }
  jobs_.wait();
}

void Plants::stream_terrain() {
  jobs_.submit([this] { terrain_.push_back(load_terrain()); });
  jobs_.wait();
}

}  // namespace combat
