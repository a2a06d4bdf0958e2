// What the numbers in page fault records mean.
#pragma once
#include <cstdint>

namespace hitch::format {

// Whose memory was touched. `id` of the record says which.
enum class FaultOwner : std::uint8_t {
  kBlock = 0,      // a live block; id: Site of its allocation
  kAllocator = 1,  // the allocator's own words, or a heap that grows; id: Site of the call
  kStack = 2,      // of the thread
  kFile = 3,       // a mapped file; id: Text, its path
  kModule = 4,     // code or data of an executable or library; id: Module
  kShim = 5,       // hitchtrace's own memory and code
  kMapping = 6,    // without file or block; id: Site + 1 of the game's own mmap call, or 0
  kUnknown = 7,    // not mapped any more when it was looked up
};
constexpr unsigned kFaultOwners = 8;

enum class FaultKind : std::uint8_t {
  kFirstTouch = 0,
  kRecycled = 1,     // touched before under another block: the kernel had the page back in between
  kAgain = 2,        // touched before: first read and then written, or given back by madvise
  kCopyOnWrite = 3,  // the process has forked since
  kMajor = 4,        // read from a file or from swap
  kHugePage = 5,     // one fault, 2 MiB
};
constexpr unsigned kFaultKinds = 6;

// Kinds of faults that differ in price.
enum class FaultPriceClass : std::uint8_t {
  kAnonymous = 0,    // a fresh page, zeroed
  kFilePages = 1,    // pages of a file that are in memory already, up to 16 at once
  kCopyOnWrite = 2,  // a page is copied
  kHugePage = 3,     // 2 MiB, zeroed
};
constexpr unsigned kFaultPriceClasses = 4;

}  // namespace hitch::format
