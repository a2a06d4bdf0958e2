#include "recorder/faults/pagemap.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hitch::faults {

namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPresentBit = std::uint64_t{1} << 63;
constexpr std::uint64_t kSwappedBit = std::uint64_t{1} << 62;

// struct page_region, struct pm_scan_arg and PAGE_IS_* of linux/fs.h, which older headers lack.
struct Region {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t categories;
};
struct ScanArgument {
  std::uint64_t size;
  std::uint64_t flags;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t walk_end;
  std::uint64_t regions;
  std::uint64_t region_count;
  std::uint64_t most_pages;
  std::uint64_t category_inverted;
  std::uint64_t category_mask;
  std::uint64_t category_anyof_mask;
  std::uint64_t return_mask;
};
static_assert(sizeof(ScanArgument) == 96);
constexpr std::uint64_t kIsPresent = 1u << 3;
constexpr std::uint64_t kIsSwapped = 1u << 4;
constexpr std::uint64_t kIsHuge = 1u << 6;

std::uint64_t first_page(std::uint64_t address) { return address / kPageBytes * kPageBytes; }

}  // namespace

Pagemap::~Pagemap() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Pagemap::open(pid_t pid, std::string& why) {
  const std::string path = "/proc/" + std::to_string(pid) + "/pagemap";
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) why = path + " cannot be read (" + std::strerror(errno) + ")";
  return descriptor_ >= 0;
}

std::optional<std::uint64_t> Pagemap::resident_pages(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t first = first_page(begin);
  const std::uint64_t past = first_page(end + kPageBytes - 1);
  if (past <= first) return 0;
  if (can_scan_) {
    const std::optional<std::uint64_t> pages = scan(first, past, kIsPresent | kIsSwapped, 0);
    if (pages || can_scan_) return pages;
  }
  return count(first, past);
}

bool Pagemap::is_huge(std::uint64_t address) {
  if (descriptor_ < 0 || !can_scan_) return false;
  const std::uint64_t page = first_page(address);
  return scan(page, page + kPageBytes, kIsPresent, kIsHuge).value_or(0) > 0;
}

std::optional<std::uint64_t> Pagemap::scan(std::uint64_t begin, std::uint64_t end,
                                           std::uint64_t any, std::uint64_t all) {
  std::array<Region, 64> regions{};
  std::uint64_t pages = 0;
  while (begin < end) {
    ScanArgument argument{};
    argument.size = sizeof argument;
    argument.start = begin;
    argument.end = end;
    argument.regions = reinterpret_cast<std::uint64_t>(regions.data());
    argument.region_count = regions.size();
    argument.category_mask = all;
    argument.category_anyof_mask = any;
    argument.return_mask = any;
    const int found = ioctl(descriptor_, _IOWR('f', 16, ScanArgument), &argument);
    if (found < 0) {
      can_scan_ = errno != ENOTTY && errno != EINVAL;
      return std::nullopt;
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i)
      pages += (regions[i].end - regions[i].start) / kPageBytes;
    if (argument.walk_end <= begin) break;
    begin = argument.walk_end;
  }
  return pages;
}

std::optional<std::uint64_t> Pagemap::count(std::uint64_t begin, std::uint64_t end) {
  std::array<std::uint64_t, 512> entries{};
  std::uint64_t pages = 0;
  while (begin < end) {
    const std::size_t wanted = std::min<std::size_t>(entries.size(), (end - begin) / kPageBytes);
    const ssize_t got = pread(descriptor_, entries.data(), wanted * sizeof(entries[0]),
                              static_cast<off_t>(begin / kPageBytes * sizeof(entries[0])));
    if (got < static_cast<ssize_t>(sizeof(entries[0]))) return std::nullopt;
    const std::size_t read = static_cast<std::size_t>(got) / sizeof(entries[0]);
    for (std::size_t i = 0; i < read; ++i)
      pages += (entries[i] & (kPresentBit | kSwappedBit)) != 0 ? 1 : 0;
    begin += read * kPageBytes;
  }
  return pages;
}

}  // namespace hitch::faults
