#include "viewer/app/site_namer.h"

#include <map>

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
    for (std::size_t i = 0; i < trace.outliers.size(); ++i) {
      const model::Outlier& outlier = trace.outliers[i];
      if (outlier.stack && outlier.site)
        stack_of_site.try_emplace(outlier.site->index(), *outlier.stack);
    }
    for (std::size_t i = 0; i < trace.sites.size(); ++i) {
      const auto found = stack_of_site.find(i);
      if (found != stack_of_site.end()) {
        stack_of_address.try_emplace(trace.sites[i].address, found->second);
      }
    }
  }

  Symbol look_up(std::optional<model::ModuleId> module, std::uint64_t address) {
    const bool known = module && module->index() < modules.size();
    return symboliser.return_address(known ? modules[module->index()] : Symboliser::kNoModule,
                                     address);
  }

  // The closest caller that has a name, from a callstack that began at this address.
  std::string via(std::uint64_t address) {
    const auto found = stack_of_address.find(address);
    if (found == stack_of_address.end()) return "";
    const model::Stack& stack = trace.stacks[found->second.index()];
    for (std::size_t i = 0; i < stack.addresses.size(); ++i) {
      if (stack.addresses[i] == address) continue;
      const Symbol symbol = look_up(stack.modules[i], stack.addresses[i]);
      if (symbol.quality >= Quality::kSymbol) return "via " + symbol.function;
    }
    return "";
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
  std::map<std::size_t, model::StackId> stack_of_site;
  std::map<std::uint64_t, model::StackId> stack_of_address;
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

std::vector<std::string> SiteNamer::notes() const { return impl_->symboliser.notes(); }

}  // namespace hitch::app
