// Call sites: (callstack or caller's address, class of operation) -> dense id. The class keeps the
// two halves of a realloc wrapper apart.
#pragma once
#include <cstdint>
#include <vector>

#include "format/buffer_records.h"
#include "recorder/resolve/flat_index.h"
#include "recorder/resolve/modules.h"
#include "recorder/resolve/record_out.h"
#include "recorder/resolve/stacks.h"

namespace hitch::resolve {

enum class SiteClass : std::uint8_t { kAlloc, kFree, kRealloc, kHeap, kMap };

constexpr SiteClass class_of(format::Op op) {
  switch (op) {
    case format::Op::kFree:
    case format::Op::kDelete:
    case format::Op::kDeleteArray:
      return SiteClass::kFree;
    case format::Op::kHeap:
      return SiteClass::kHeap;
    case format::Op::kMmap:
    case format::Op::kMunmap:
    case format::Op::kMremap:
      return SiteClass::kMap;
    default:
      return SiteClass::kAlloc;
  }
}

// Where a call came from: its whole callstack when that is known, else the caller's address.
struct CallSite {
  std::uint64_t address;  // return address of the allocator's entry point
  Stacks::Node stack;     // 0: not known
  SiteClass site_class;

  std::uint64_t key() const {
    constexpr std::uint64_t kStack = std::uint64_t{1} << 62;
    return (stack != 0 ? stack | kStack : address) | static_cast<std::uint64_t>(site_class) << 48;
  }
};

class Sites {
 public:
  // More sites than any game has: a garbled buffer must not eat the recorder's memory.
  static constexpr std::uint32_t kMost = 1u << 22;

  Sites(RecordOut& out, Modules& modules, Stacks& stacks)
      : index_(12), out_(out), modules_(modules), stacks_(stacks) {}

  std::uint32_t id(const CallSite& site, format::Op op) {
    const std::uint64_t key = site.key();
    const auto fresh = static_cast<std::uint32_t>(sites_.size());
    if (fresh >= kMost) [[unlikely]] {
      const std::uint32_t known = index_.find(key);
      return known != FlatIndex::kNone ? known : 0;
    }
    const std::uint32_t found = index_.find_or_add(key, fresh);
    if (found == fresh) [[unlikely]] {
      sites_.push_back({site, op});
    }
    return found;
  }

  std::uint64_t address(std::uint32_t id) const { return sites_[id].site.address; }
  std::size_t size() const { return sites_.size(); }
  // Writes Site records of the sites that are new since the last call, and their stacks; must come
  // before the rows that name them.
  void write_new(std::uint64_t key, std::uint64_t now_ms);
  // After a module was told: sites written without a module may lie in it, because a library's
  // first calls come before its name. Writes those again, and they replace the first record.
  void write_found();
  // The addresses of `range` mean other code from now on: they get new ids. After Stacks::forget.
  void forget(const AddressRange& range);

 private:
  struct Known {
    CallSite site;
    format::Op op;
    bool forgotten = false;
  };
  void write(std::uint32_t id, std::uint64_t module);

  FlatIndex index_;
  std::vector<Known> sites_;
  std::size_t written_ = 0;
  std::vector<std::uint32_t> homeless_;  // written without a module
  RecordOut& out_;
  Modules& modules_;
  Stacks& stacks_;
};

}  // namespace hitch::resolve
