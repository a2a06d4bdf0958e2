// Call sites: (caller address, class of operation) -> dense id. The address says which instruction
// called; the class keeps the two halves of a realloc wrapper apart.
#pragma once
#include <cstdint>
#include <vector>

#include "format/buffer_records.h"
#include "recorder/resolve/flat_index.h"
#include "recorder/resolve/modules.h"
#include "recorder/resolve/record_out.h"

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

class Sites {
 public:
  // More sites than any game has: a garbled buffer must not eat the recorder's memory.
  static constexpr std::uint32_t kMost = 1u << 22;

  Sites(RecordOut& out, Modules& modules) : index_(12), out_(out), modules_(modules) {}

  std::uint32_t id(std::uint64_t address, SiteClass site_class, format::Op op) {
    const std::uint64_t key = index_key(address, site_class);
    const auto fresh = static_cast<std::uint32_t>(addresses_.size());
    if (fresh >= kMost) [[unlikely]] {
      const std::uint32_t known = index_.find(key);
      return known != FlatIndex::kNone ? known : 0;
    }
    const std::uint32_t found = index_.find_or_add(key, fresh);
    if (found == fresh) [[unlikely]] {
      addresses_.push_back({address, op, site_class});
    }
    return found;
  }

  std::uint64_t address(std::uint32_t id) const { return addresses_[id].address; }
  std::size_t size() const { return addresses_.size(); }
  // Writes Site records of the sites that are new since the last call; must come before the rows
  // that name them.
  void write_new(std::uint64_t key, std::uint64_t now_ms);
  // After a module was told: sites written without a module may lie in it, because a library's
  // first calls come before its name. Writes those again, and they replace the first record.
  void write_found();
  // The addresses of `range` mean other code from now on: they get new ids.
  void forget(const AddressRange& range);

 private:
  struct Known {
    std::uint64_t address;
    format::Op op;
    SiteClass site_class;
    bool forgotten = false;
  };
  void write(std::uint32_t id, std::uint64_t module);
  static std::uint64_t index_key(std::uint64_t address, SiteClass site_class) {
    return address | static_cast<std::uint64_t>(site_class) << 48;
  }
  FlatIndex index_;
  std::vector<Known> addresses_;
  std::size_t written_ = 0;
  std::vector<std::uint32_t> homeless_;  // written without a module
  RecordOut& out_;
  Modules& modules_;
};

}  // namespace hitch::resolve
