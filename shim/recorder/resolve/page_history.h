// Which pages have faulted before, and when: what tells a first touch from memory the kernel had
// back in between. Pages beyond kMost are not remembered and count as touched for the first time.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "recorder/resolve/flat_index.h"

namespace hitch::resolve {

class PageHistory {
 public:
  struct Touch {
    std::uint64_t key;    // when
    std::uint32_t forks;  // how often the process had forked by then
  };

  // The page's last touch before this one, and notes this one.
  std::optional<Touch> touch(std::uint64_t address, std::uint64_t key, std::uint32_t forks) {
    const std::uint64_t page = address >> kPageShift;
    if (page == 0) return std::nullopt;  // nothing lives there
    const auto fresh = static_cast<std::uint32_t>(touches_.size());
    const std::uint32_t place = fresh < kMost ? index_.find_or_add(page, fresh) : index_.find(page);
    if (place == FlatIndex::kNone) return std::nullopt;
    if (place < fresh) return std::exchange(touches_[place], Touch{key, forks});
    touches_.push_back({key, forks});
    return std::nullopt;
  }

 private:
  static constexpr unsigned kPageShift = 12;
  static constexpr std::uint32_t kMost = 1u << 21;

  FlatIndex index_;
  std::vector<Touch> touches_;
};

}  // namespace hitch::resolve
