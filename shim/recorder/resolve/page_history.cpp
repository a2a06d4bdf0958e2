#include "recorder/resolve/page_history.h"

#include <algorithm>

namespace hitch::resolve {

namespace {
constexpr std::uint64_t kPageMask = (std::uint64_t{1} << 36) - 1;
constexpr std::uint32_t kMostForks = (1u << 28) - 1;
}  // namespace

std::size_t PageHistory::place(std::uint64_t page) const {
  const std::size_t mask = entries_.size() - 1;
  auto i = static_cast<std::size_t>((page * 0x9E3779B97F4A7C15u) >> shift_);
  while (entries_[i].page_forks != 0 && (entries_[i].page_forks & kPageMask) != page)
    i = (i + 1) & mask;
  return i;
}

void PageHistory::grow() {
  std::vector<Entry> old(entries_.size() * 2);
  old.swap(entries_);
  --shift_;
  for (const Entry& entry : old) {
    if (entry.page_forks != 0) entries_[place(entry.page_forks & kPageMask)] = entry;
  }
}

std::optional<PageHistory::Touch> PageHistory::touch(std::uint64_t address, std::uint64_t key,
                                                     std::uint32_t forks) {
  const std::uint64_t page = address >> kPageShift & kPageMask;
  if (page == 0) return std::nullopt;
  Entry& entry = entries_[place(page)];
  const std::uint64_t now = page | static_cast<std::uint64_t>(std::min(forks, kMostForks)) << 36;
  if (entry.page_forks != 0) {
    const Touch before{entry.key, static_cast<std::uint32_t>(entry.page_forks >> 36)};
    entry = {now, key};
    return before;
  }
  if (count_ >= kMost) return std::nullopt;
  entry = {now, key};
  if (++count_ * 2 > entries_.size()) grow();
  return std::nullopt;
}

}  // namespace hitch::resolve
