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
    out_.put(
        format::trace::Site{written_, site.address, module, static_cast<std::uint64_t>(site.op)});
  }
}

}  // namespace hitch::resolve
