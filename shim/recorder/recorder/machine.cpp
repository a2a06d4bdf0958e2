#include "recorder/recorder/machine.h"

#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "recorder/resolve/process_files.h"

namespace hitch::recorder {

namespace {

constexpr std::size_t kPages = 512;
constexpr std::size_t kPageBytes = 4096;

std::string first_line(const std::string& path) {
  std::string text = resolve::read_small_file(path);
  const std::size_t end = text.find('\n');
  if (end != std::string::npos) text.resize(end);
  return text;
}

std::string cpu_model() {
  const std::string text = resolve::read_small_file("/proc/cpuinfo");
  const std::size_t at = text.find("model name");
  const std::size_t colon = text.find(": ", at);
  if (at == std::string::npos || colon == std::string::npos) return "unknown";
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

Facts machine_facts() {
  utsname kernel{};
  uname(&kernel);
  std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (governor.empty()) governor = "none";
  return {
      {"machine.cpu", cpu_model()},
      {"machine.cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
      {"machine.governor", governor},
      {"machine.kernel", std::string(kernel.sysname) + " " + kernel.release},
      {"machine.thp", chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled"))},
  };
}

double measure_fault_ns() {
  const std::size_t bytes = kPages * kPageBytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  std::vector<std::uint64_t> prices(kPages);
  auto* page = static_cast<volatile char*>(memory);
  for (std::size_t i = 0; i < kPages; ++i) {
    const std::uint64_t before = base::read_monotonic_raw();
    page[i * kPageBytes] = 1;
    prices[i] = base::read_monotonic_raw() - before;
  }
  munmap(memory, bytes);
  std::uint64_t floor = ~std::uint64_t{0};
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = base::read_monotonic_raw();
    floor = std::min(floor, base::read_monotonic_raw() - before);
  }
  std::nth_element(prices.begin(), prices.begin() + kPages / 2, prices.end());
  const std::uint64_t median = prices[kPages / 2];
  return static_cast<double>(median > floor ? median - floor : 0);
}

}  // namespace hitch::recorder
