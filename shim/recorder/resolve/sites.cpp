#include "recorder/resolve/sites.h"

namespace hitch::resolve {

void Sites::write_new(std::uint64_t key, std::uint64_t now_ms) {
  bool looked = false;
  for (; written_ < sites_.size(); ++written_) {
    const std::uint64_t address = sites_[written_].site.address;
    const auto id = static_cast<std::uint32_t>(written_);
    stacks_.id_plus_one(sites_[written_].site.stack, key, now_ms);
    std::uint64_t module = modules_.find(address);
    if (module == 0 && address != 0 && !looked) {
      modules_.look_again(key, now_ms);
      looked = true;
      module = modules_.find(address);
    }
    if (module == 0 && address != 0) homeless_.push_back(id);
    write(id, module);
  }
}

void Sites::write(std::uint32_t id, std::uint64_t module) {
  const Known& known = sites_[id];
  out_.put(format::trace::Site{id, known.site.address, module, static_cast<std::uint64_t>(known.op),
                               stacks_.id_plus_one(known.site.stack, 0, 0)});
}

void Sites::write_found() {
  std::erase_if(homeless_, [this](std::uint32_t id) {
    const Known& known = sites_[id];
    const std::uint64_t module = known.forgotten ? 0 : modules_.find(known.site.address);
    if (module != 0) write(id, module);
    return known.forgotten || module != 0;
  });
}

void Sites::forget(const AddressRange& range) {
  index_.clear();
  for (std::uint32_t id = 0; id < sites_.size(); ++id) {
    Known& known = sites_[id];
    known.forgotten = known.forgotten || range.holds(known.site.address) ||
                      stacks_.is_forgotten(known.site.stack);
    if (!known.forgotten) index_.find_or_add(known.site.key(), id);
  }
}

}  // namespace hitch::resolve
