// /proc/<pid>/pagemap: which pages are resident, and which lie in huge pages. PAGEMAP_SCAN where
// the kernel has it (6.7 and later), else eight bytes a page. Needs no privilege: these bits are
// shown to everybody who may look at the process.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace hitch::faults {

class Pagemap {
 public:
  Pagemap() = default;
  ~Pagemap();
  Pagemap(const Pagemap&) = delete;
  Pagemap& operator=(const Pagemap&) = delete;

  // False with `why` when the process may not be looked at.
  bool open(pid_t pid, std::string& why);
  // Pages that [begin, end) meets and that are resident or swapped out; none when the process is
  // gone.
  std::optional<std::uint64_t> resident_pages(std::uint64_t begin, std::uint64_t end);
  // Whether `address` lies in a huge page. False where the kernel does not say (before 6.7).
  bool is_huge(std::uint64_t address);

 private:
  // Pages of a range in one of the categories of `any` that are also in all of `all`.
  std::optional<std::uint64_t> scan(std::uint64_t begin, std::uint64_t end, std::uint64_t any,
                                    std::uint64_t all);
  std::optional<std::uint64_t> count(std::uint64_t begin, std::uint64_t end);

  int descriptor_ = -1;
  bool can_scan_ = true;
};

}  // namespace hitch::faults
