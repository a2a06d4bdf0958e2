// Which pages have faulted before, and when: what tells a first touch from memory the kernel had
// back in between. Open addressing, 16 bytes an entry, no deletion; pages beyond kMost are not
// remembered and count as touched for the first time.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace hitch::resolve {

class PageHistory {
 public:
  struct Touch {
    std::uint64_t key;    // when
    std::uint32_t forks;  // how often the process had forked by then
  };

  // The page's last touch before this one, and notes this one.
  std::optional<Touch> touch(std::uint64_t address, std::uint64_t key, std::uint32_t forks);

 private:
  static constexpr std::uint64_t kPageShift = 12;
  static constexpr std::size_t kMost = std::size_t{1} << 21;
  struct Entry {
    std::uint64_t page_forks = 0;  // page (36) | forks (28); 0: free
    std::uint64_t key = 0;
  };
  std::size_t place(std::uint64_t page) const;
  void grow();

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << 12);
  unsigned shift_ = 64 - 12;
  std::size_t count_ = 0;
};

}  // namespace hitch::resolve
