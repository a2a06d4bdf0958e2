// Built without elfutils: modules and offsets.
#include "viewer/symbolise/offset_name.h"
#include "viewer/symbolise/symboliser.h"

namespace hitch::symbolise {

struct Symboliser::Impl {
  std::vector<model::Module> modules;
  std::vector<std::string> notes;
};

// NOLINTNEXTLINE(performance-unnecessary-value-param): the twin keeps them
Symboliser::Symboliser(Settings settings) : impl_(std::make_unique<Impl>()) {
  if (!settings.symbols.empty() || settings.debuginfod)
    impl_->notes.emplace_back("This hitchtrace was built without elfutils: it reads no symbols.");
}

Symboliser::~Symboliser() = default;

Symboliser::Module Symboliser::add_module(const model::Module& module) {
  impl_->modules.push_back(module);
  return impl_->modules.size() - 1;
}

Symbol Symboliser::return_address(Module module, std::uint64_t address) {
  return instruction(module, address);
}

Symbol Symboliser::instruction(Module module, std::uint64_t address) {
  return module < impl_->modules.size() ? offset_symbol(impl_->modules[module], address)
                                        : address_symbol(address);
}

const std::vector<std::string>& Symboliser::notes() const { return impl_->notes; }

}  // namespace hitch::symbolise
