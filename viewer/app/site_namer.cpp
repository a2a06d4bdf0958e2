#include "viewer/app/site_namer.h"

#include <unordered_map>
#include <utility>

#include "viewer/app/plumbing.h"
#include "viewer/symbolise/symboliser.h"

namespace hitch::app {
namespace {

using symbolise::Quality;
using symbolise::Symbol;
using symbolise::Symboliser;

std::string place_of(const Symbol& symbol) {
  if (symbol.file.empty()) return "";
  std::string place = render::file_name(symbol.file);
  if (symbol.line != 0) place += ":" + std::to_string(symbol.line);
  return place;
}

}  // namespace

struct SiteNamer::Impl {
  Impl(const model::Trace& the_trace, const std::vector<std::string>& symbols, bool debuginfod)
      : trace(the_trace), symboliser({symbols, debuginfod}) {
    for (const model::Module& module : trace.modules)
      modules.push_back(symboliser.add_module(module));
  }

  Symbol look_up(std::optional<model::ModuleId> module, std::uint64_t address) {
    const bool known = module && module->index() < modules.size();
    return symboliser.return_address(known ? modules[module->index()] : Symboliser::kNoModule,
                                     address);
  }

  // The closest caller that has a name, from a callstack that holds this address.
  std::string via(std::uint64_t address) {
    if (stack_of_address.empty()) {
      for (const model::Stack& stack : trace.stacks) {
        for (std::size_t i = 0; i < stack.addresses.size(); ++i)
          stack_of_address.try_emplace(stack.addresses[i], std::pair(&stack, i));
      }
    }
    const auto found = stack_of_address.find(address);
    if (found == stack_of_address.end()) return "";
    const auto& [stack, position] = found->second;
    for (std::size_t i = position + 1; i < stack->addresses.size(); ++i) {
      const Symbol symbol = look_up(stack->modules[i], stack->addresses[i]);
      if (symbol.quality >= Quality::kSymbol) return "via " + symbol.function;
    }
    return "";
  }

  // The entry of the site's callstack that it is known by.
  model::SiteKey key_entry(const model::Site& site, const Plumbing& plumbing) {
    model::SiteKey key{"", "", site.address, site.module};
    if (!site.stack) return key;
    const model::Stack& stack = trace.stacks[site.stack->index()];
    for (std::size_t i = 0; i < stack.addresses.size(); ++i) {
      key.address = stack.addresses[i];
      key.module = stack.modules[i];
      const auto [place, fresh] = is_plumbing.try_emplace(key.address, false);
      if (fresh) place->second = plumbing.holds(look_up(key.module, key.address));
      if (!place->second) return key;
    }
    // All of it: the innermost entry says most.
    return {"", "", site.address, site.module};
  }

  model::SiteKey key(const model::Site& site, Grouping grouping, const Plumbing& plumbing) {
    if (grouping == Grouping::kCaller)
      return {std::to_string(site.address), "", site.address, site.module};
    model::SiteKey key = key_entry(site, plumbing);
    key.group = std::to_string(key.address);
    if (grouping == Grouping::kStack && site.stack)
      key.group = "stack " + std::to_string(site.stack->index());
    if (key.address == 0) return key;
    const Symbol symbol = look_up(key.module, key.address);
    const std::string function = symbol.module + "!" + symbol.function;
    if (grouping == Grouping::kEntry || grouping == Grouping::kStack) {
      key.function = function;
      return key;
    }
    if (grouping == Grouping::kFunction) key.group = function;
    if (grouping == Grouping::kFile && !symbol.file.empty()) {
      key.group = symbol.module + "!" + symbol.file;
      key.name = symbol.file;
    } else if (grouping != Grouping::kFunction) {
      key.group = key.name = symbol.module.empty() ? "(no module)" : symbol.module;
    }
    return key;
  }

  render::Name name(std::optional<model::ModuleId> module, std::uint64_t address) {
    if (address == 0) return {"(unknown)", "", "", ""};
    const Symbol symbol = look_up(module, address);
    render::Name name{symbol.function, symbol.module, place_of(symbol), ""};
    if (symbol.quality < Quality::kSymbol) {
      name.hint = via(address);
      if (name.hint.empty() && !symbol.near.empty()) name.hint = "near " + symbol.near;
    }
    return name;
  }

  const model::Trace& trace;
  Symboliser symboliser;
  std::vector<Symboliser::Module> modules;
  std::unordered_map<std::uint64_t, std::pair<const model::Stack*, std::size_t>> stack_of_address;
  std::unordered_map<std::uint64_t, bool> is_plumbing;
};

SiteNamer::SiteNamer(const model::Trace& trace, const std::vector<std::string>& symbols,
                     bool debuginfod)
    : impl_(std::make_unique<Impl>(trace, symbols, debuginfod)) {}

SiteNamer::~SiteNamer() = default;

render::Namer SiteNamer::function() {
  return [impl = impl_.get()](std::optional<model::ModuleId> module, std::uint64_t address) {
    return impl->name(module, address);
  };
}

model::SiteKeyOf SiteNamer::grouping(Grouping grouping, const std::vector<std::string>& skip) {
  return [impl = impl_.get(), grouping, plumbing = Plumbing(skip)](const model::Site& site) {
    return impl->key(site, grouping, plumbing);
  };
}

std::vector<std::string> SiteNamer::notes() const { return impl_->symboliser.notes(); }

}  // namespace hitch::app
