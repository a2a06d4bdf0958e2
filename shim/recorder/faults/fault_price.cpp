#include "recorder/faults/fault_price.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "recorder/faults/perf_event.h"
#include "recorder/faults/perf_ring.h"

namespace hitch::faults {

namespace {

using format::FaultPriceClass;

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugeBytes = std::size_t{2} << 20;
constexpr std::size_t kFaultAround = 16;  // pages of a file the kernel maps at once
constexpr std::size_t kTouches = 64;
constexpr int kRounds = 4;  // of each kind, half of them recorded
constexpr std::size_t kRingPages = 16;

// Two events on this thread that stamp the begin and the end of each of its faults.
class OwnFaults {
 public:
  OwnFaults() {
    begin_ = open_disabled(PERF_COUNT_SW_PAGE_FAULTS);
    end_ = begin_ >= 0 ? open_disabled(PERF_COUNT_SW_PAGE_FAULTS_MIN) : -1;
    if (end_ < 0 || !ring_.map(begin_, kRingPages)) return;
    works_ = ioctl(end_, PERF_EVENT_IOC_SET_OUTPUT, begin_) == 0;
  }
  ~OwnFaults() {
    if (end_ >= 0) close(end_);
    if (begin_ >= 0) close(begin_);
  }
  OwnFaults(const OwnFaults&) = delete;
  OwnFaults& operator=(const OwnFaults&) = delete;

  bool works() const { return works_; }
  // The game's faults are recorded when they begin; their end is told for this measurement alone.
  void enable(bool begins, bool ends) {
    ioctl(begin_, begins ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    ioctl(end_, ends ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
  }
  // Stamps since the last call, begins and ends alternating.
  std::vector<std::uint64_t> stamps() {
    std::vector<std::uint64_t> found;
    ring_.for_each([&](const perf_event_header& header, const char* payload, std::size_t bytes) {
      if (header.type != PERF_RECORD_SAMPLE) return;
      if (const auto sample = read_as<PerfSample>(payload, bytes)) found.push_back(sample->time);
    });
    return found;
  }

 private:
  static int open_disabled(std::uint64_t config) {
    perf_event_attr attributes = software_event(config, true);
    attributes.disabled = 1;
    return open_event(attributes, 0, -1);
  }

  int begin_ = -1;
  int end_ = -1;
  PerfRing ring_;
  bool works_ = false;
};

// Memory to fault in; null when it cannot be had.
class Ground {
 public:
  explicit Ground(FaultPriceClass price_class) : class_(price_class) {
    const bool huge = class_ == FaultPriceClass::kHugePage;
    const bool of_file = class_ == FaultPriceClass::kFilePages;
    step_ = huge ? kHugeBytes : of_file ? kFaultAround * kPageBytes : kPageBytes;
    touches_ = huge ? 2 : kTouches;
    bytes_ = step_ * touches_ + (huge ? kHugeBytes : 0);
    const bool from_file = of_file || class_ == FaultPriceClass::kCopyOnWrite;
    int file = -1;
    if (from_file) {
      file = static_cast<int>(syscall(SYS_memfd_create, "hitchtrace-price", 1u));
      if (file < 0 || ftruncate(file, static_cast<off_t>(bytes_)) != 0 || !fill(file)) {
        if (file >= 0) close(file);
        return;
      }
    }
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | (from_file ? 0 : MAP_ANONYMOUS), file, 0);
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) return;
    memory_ = static_cast<char*>(memory);
    first_ = memory_;
    if (huge) {
      const auto address = reinterpret_cast<std::uintptr_t>(memory_);
      first_ += (kHugeBytes - address % kHugeBytes) % kHugeBytes;
      madvise(memory_, bytes_, MADV_HUGEPAGE);
    } else {
      madvise(memory_, bytes_, MADV_NOHUGEPAGE);
    }
    if (class_ == FaultPriceClass::kCopyOnWrite) {
      for (std::size_t at = 0; at < bytes_; at += kPageBytes) sink_ = memory_[at];
    }
  }
  ~Ground() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // Of a touched huge page: its neighbours have come with it.
  bool is_huge() const {
    unsigned char resident = 0;
    return memory_ != nullptr && mincore(first_ + kPageBytes, kPageBytes, &resident) == 0 &&
           (resident & 1) != 0;
  }
  std::size_t touches() const { return memory_ != nullptr ? touches_ : 0; }
  void touch(std::size_t number) {
    volatile char* at = first_ + number * step_;
    if (class_ == FaultPriceClass::kFilePages) {
      sink_ = *at;
    } else {
      *at = 1;
    }
  }

 private:
  bool fill(int file) const {
    const std::vector<char> ones(kPageBytes, 1);
    for (std::size_t at = 0; at < bytes_; at += kPageBytes) {
      if (pwrite(file, ones.data(), ones.size(), static_cast<off_t>(at)) < 0) return false;
    }
    return true;
  }

  FaultPriceClass class_;
  std::size_t step_ = 0;
  std::size_t touches_ = 0;
  std::size_t bytes_ = 0;
  char* memory_ = nullptr;
  char* first_ = nullptr;
  volatile char sink_ = 0;
};

double nth(std::vector<double>& values, std::size_t tenths) {
  if (values.empty()) return 0;
  const std::size_t at = std::min(values.size() - 1, values.size() * tenths / 10);
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

long own_faults() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_minflt;
}

std::vector<double> touch_all(Ground& ground, double clock_ns) {
  std::vector<double> took;
  took.reserve(ground.touches());
  for (std::size_t i = 0; i < ground.touches(); ++i) {
    const std::uint64_t before = base::read_monotonic_raw();
    ground.touch(i);
    took.push_back(static_cast<double>(base::read_monotonic_raw() - before) - clock_ns);
  }
  return took;
}

double clock_floor_ns() {
  std::uint64_t floor = ~std::uint64_t{0};
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t before = base::read_monotonic_raw();
    floor = std::min(floor, base::read_monotonic_raw() - before);
  }
  return static_cast<double>(floor);
}

}  // namespace

std::vector<FaultPrice> measure_fault_prices() {
  OwnFaults events;
  const double clock_ns = clock_floor_ns();
  std::vector<FaultPrice> prices;
  for (unsigned number = 0; number < format::kFaultPriceClasses; ++number) {
    const auto price_class = static_cast<FaultPriceClass>(number);
    std::vector<double> plain;
    std::vector<double> recorded;
    std::vector<double> inside;
    bool as_expected = true;
    for (int round = 0; round < kRounds; ++round) {
      {
        Ground ground(price_class);
        const long before = own_faults();
        const std::vector<double> took = touch_all(ground, clock_ns);
        // Without huge pages each of their touches faults in a small one, and each huge page would
        // need hundreds; without any fault the memory was not fresh.
        const long faults = own_faults() - before;
        const auto touches = static_cast<long>(ground.touches());
        const bool huge = price_class == FaultPriceClass::kHugePage;
        as_expected =
            as_expected && !took.empty() && faults >= touches && (!huge || ground.is_huge());
        plain.insert(plain.end(), took.begin(), took.end());
      }
      if (!events.works()) continue;
      {
        Ground ground(price_class);
        events.enable(true, false);
        const std::vector<double> took = touch_all(ground, clock_ns);
        events.enable(false, false);
        recorded.insert(recorded.end(), took.begin(), took.end());
        events.stamps();
      }
      {
        Ground ground(price_class);
        events.enable(true, true);
        const std::vector<double> took = touch_all(ground, clock_ns);
        events.enable(false, false);
        const std::vector<std::uint64_t> stamps = events.stamps();
        // One pair for each touch; anything else was disturbed.
        if (stamps.size() != 2 * took.size()) continue;
        for (std::size_t i = 0; i < took.size(); ++i)
          inside.push_back(static_cast<double>(stamps[2 * i + 1] - stamps[2 * i]));
      }
    }
    if (!as_expected) continue;
    const double median = nth(plain, 5);
    const double with_recording = recorded.empty() ? median : nth(recorded, 5);
    // The second event takes time too, but after its own stamp: only the inside is its figure.
    const double outside = inside.empty() ? 0 : std::max(0.0, with_recording - nth(inside, 5));
    prices.push_back({price_class, plain.size(), median, nth(plain, 1), nth(plain, 9),
                      std::max(0.0, with_recording - median), outside});
  }
  return prices;
}

}  // namespace hitch::faults
