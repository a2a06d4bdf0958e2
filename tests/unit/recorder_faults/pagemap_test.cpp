// Which pages are resident, of this very process.
#include "recorder/faults/pagemap.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hitch::faults {
namespace {

constexpr std::size_t kPage = 4096;

TEST(Pagemap, CountsWhatWasTouched) {
  Pagemap pagemap;
  std::string why;
  ASSERT_TRUE(pagemap.open(getpid(), why)) << why;
  constexpr std::size_t kPages = 300;
  void* memory =
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  const auto begin = reinterpret_cast<std::uint64_t>(memory);
  EXPECT_EQ(pagemap.resident_pages(begin, begin + kPages * kPage), 0u);
  // Every third page: more ranges than one look returns.
  for (std::size_t i = 0; i < kPages; i += 3) static_cast<volatile char*>(memory)[i * kPage] = 1;
  EXPECT_EQ(pagemap.resident_pages(begin, begin + kPages * kPage), kPages / 3);
  // A block that begins and ends inside of pages meets both.
  EXPECT_EQ(pagemap.resident_pages(begin + 16, begin + 3 * kPage + 8), 2u);
  EXPECT_FALSE(pagemap.is_huge(begin));
  munmap(memory, kPages * kPage);
  EXPECT_EQ(pagemap.resident_pages(begin, begin + kPages * kPage), 0u);
}

TEST(Pagemap, SaysWhyAProcessMayNotBeLookedAt) {
  Pagemap pagemap;
  std::string why;
  EXPECT_FALSE(pagemap.open(0x7ffffffe, why));
  EXPECT_NE(why.find("pagemap cannot be read"), std::string::npos) << why;
  EXPECT_FALSE(pagemap.resident_pages(0x10000, 0x20000).has_value());
}

}  // namespace
}  // namespace hitch::faults
