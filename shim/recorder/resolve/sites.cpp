#include "recorder/resolve/sites.h"

namespace hitch::resolve {

void Sites::write_new(std::uint64_t key, std::uint64_t now_ms) {
  bool looked = false;
  for (; written_ < addresses_.size(); ++written_) {
    const Known& site = addresses_[written_];
    std::uint64_t module = modules_.find(site.address);
    if (module == 0 && site.address != 0 && !looked) {
      modules_.look_again(key, now_ms);
      looked = true;
      module = modules_.find(site.address);
    }
    if (module == 0 && site.address != 0) homeless_.push_back(static_cast<std::uint32_t>(written_));
    write(static_cast<std::uint32_t>(written_), module);
  }
}

void Sites::write(std::uint32_t id, std::uint64_t module) {
  const Known& site = addresses_[id];
  out_.put(format::trace::Site{id, site.address, module, static_cast<std::uint64_t>(site.op)});
}

void Sites::write_found() {
  std::erase_if(homeless_, [this](std::uint32_t id) {
    const Known& site = addresses_[id];
    const std::uint64_t module = site.forgotten ? 0 : modules_.find(site.address);
    if (module != 0) write(id, module);
    return site.forgotten || module != 0;
  });
}

void Sites::forget(const AddressRange& range) {
  index_.clear();
  for (std::uint32_t id = 0; id < addresses_.size(); ++id) {
    Known& site = addresses_[id];
    site.forgotten = site.forgotten || range.holds(site.address);
    if (!site.forgotten) index_.find_or_add(index_key(site.address, site.site_class), id);
  }
}

}  // namespace hitch::resolve
