#include "recorder/resolve/stacks.h"

#include <algorithm>
#include <utility>

namespace hitch::resolve {

std::uint64_t Stacks::id_plus_one(std::vector<std::uint64_t> addresses, std::uint64_t flags,
                                  std::uint64_t key, std::uint64_t now_ms) {
  if (addresses.empty()) return 0;
  format::trace::Stack record;
  record.addresses = addresses;
  record.flags = flags;
  addresses.push_back(flags);
  const auto [place, fresh] = ids_.try_emplace(std::move(addresses), next_id_);
  if (fresh) {
    ++next_id_;
    record.id = place->second;
    bool looked = false;
    for (const std::uint64_t address : record.addresses) {
      std::uint64_t module = modules_.find(address);
      if (module == 0 && !looked) {
        modules_.look_again(key, now_ms);
        looked = true;
        module = modules_.find(address);
      }
      record.modules.push_back(module);
    }
    out_.put(record);
  }
  return place->second + 1;
}

void Stacks::forget(const AddressRange& range) {
  std::erase_if(ids_, [&](const auto& stack) {
    return std::any_of(stack.first.begin(), stack.first.end() - 1,
                       [&](std::uint64_t address) { return range.holds(address); });
  });
}

}  // namespace hitch::resolve
