// With elfutils (libdw): finds each module's file, checks that it still is the recorded one, and
// asks it.
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "viewer/symbolise/debug_files.h"
#include "viewer/symbolise/debuginfod.h"
#include "viewer/symbolise/module_symbols.h"
#include "viewer/symbolise/offset_name.h"
#include "viewer/symbolise/symboliser.h"

namespace hitch::symbolise {
namespace {

std::string short_id(const std::string& build_id) {
  return build_id.empty() ? std::string("none") : to_hex(build_id).substr(0, 12);
}

bool same_segments(const model::Module& module, const ElfFile& file) {
  const std::vector<std::uint64_t> now = file.executable_segments();
  if (module.segments.empty()) return true;
  if (now.size() != module.segments.size() * 3) return false;
  for (std::size_t i = 0; i < module.segments.size(); ++i) {
    const model::Segment& then = module.segments[i];
    if (now[i * 3] != then.address || now[i * 3 + 1] != then.bytes ||
        now[i * 3 + 2] != then.file_offset)
      return false;
  }
  return true;
}

bool is_recorded(const model::Module& module, const ElfFile& file) {
  if (!file.is_open()) return false;
  return module.build_id.empty() ? same_segments(module, file) : file.build_id() == module.build_id;
}

// The vdso, memfds, what programs write at run time: nothing to open.
bool has_file(const std::string& path) {
  return path.starts_with('/') && !path.starts_with("/memfd:");
}

struct Entry {
  model::Module module;
  bool unreadable = false;  // tried, and there is no file
  std::uint64_t last_use = 0;
  std::unique_ptr<ModuleSymbols> symbols;
  std::unordered_map<std::uint64_t, Symbol> answers;  // by address in the file
};

}  // namespace

struct Symboliser::Impl {
  explicit Impl(Settings settings)
      : files(std::move(settings.symbols)), ask_servers(settings.debuginfod) {}

  void note(std::string sentence) { notes.push_back(std::move(sentence)); }

  bool can_ask_servers() {
    if (!ask_servers) return false;
    if (servers.trouble().empty()) return true;
    note(servers.trouble());
    ask_servers = false;
    return false;
  }

  std::string debug_file_of(const ElfFile& file) {
    std::string path = files.debug_file_of(file);
    if (path.empty() && can_ask_servers()) path = servers.find_debug_file(file.build_id());
    return path;
  }

  // The recorded file, or another with its build-id.
  ElfFile find_file(const model::Module& module) {
    std::string path = module.path;
    if (path.ends_with(" (deleted)")) path.resize(path.size() - 10);
    ElfFile file = has_file(path) ? ElfFile(path) : ElfFile();
    if (is_recorded(module, file)) return file;
    const std::string name = module_name(path);
    std::string other;
    if (module.build_id.empty()) {
      other = files.by_name(name);
    } else {
      other = files.by_build_id(module.build_id);
      if (other.empty() && can_ask_servers()) other = servers.find_executable(module.build_id);
    }
    if (!other.empty()) {
      ElfFile found(other);
      if (is_recorded(module, found)) return found;
    }
    if (file.is_open()) {
      note(path + " has changed since the recording (build-id then " + short_id(module.build_id) +
           ", now " + short_id(file.build_id()) + "): its functions are shown as " + name +
           "+0xOFFSET; name the recorded version with --symbols.");
    } else if (has_file(path)) {
      note(path + " cannot be read here: its functions are shown as " + name +
           "+0xOFFSET; name a copy with --symbols.");
    }
    return {};
  }

  void close_oldest() {
    Entry* oldest = nullptr;
    for (Entry& entry : entries)
      if (entry.symbols && (oldest == nullptr || entry.last_use < oldest->last_use))
        oldest = &entry;
    if (oldest == nullptr) return;
    oldest->symbols.reset();
    --open_count;
  }

  ModuleSymbols* open(Entry& entry) {
    entry.last_use = ++clock;
    if (entry.symbols || entry.unreadable) return entry.symbols.get();
    if (!complained) {
      complained = true;
      for (const std::string& one : files.complaints()) note(one);
    }
    ElfFile file = find_file(entry.module);
    if (!file.is_open()) {
      entry.unreadable = true;
      return nullptr;
    }
    if (open_count >= kMaxOpenModules) close_oldest();
    entry.symbols = std::make_unique<ModuleSymbols>(
        std::move(file), [this](const ElfFile& of) { return debug_file_of(of); });
    ++open_count;
    return entry.symbols.get();
  }

  // `back`: bytes before `address` to look at.
  Symbol look_up(Module module, std::uint64_t address, std::uint64_t back) {
    if (module >= entries.size()) return address_symbol(address);
    Entry& entry = entries[module];
    const std::uint64_t in_file = entry.module.file_address(address) - back;
    const auto known = entry.answers.find(in_file);
    if (known != entry.answers.end()) return known->second;
    Symbol symbol;
    symbol.module = module_name(entry.module.path);
    ModuleSymbols* symbols = open(entry);
    if (symbols == nullptr || !symbols->describe(in_file, symbol)) {
      Symbol plain = offset_symbol(entry.module, address);
      plain.file = std::move(symbol.file);
      plain.line = symbol.line;
      symbol = std::move(plain);
    }
    if (entry.answers.size() >= kMaxCachedSymbols) entry.answers.clear();
    entry.answers.emplace(in_file, symbol);
    return symbol;
  }

  DebugFiles files;
  Debuginfod servers;
  bool ask_servers;
  bool complained = false;
  std::vector<Entry> entries;
  std::size_t open_count = 0;
  std::uint64_t clock = 0;
  std::vector<std::string> notes;
};

Symboliser::Symboliser(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}

Symboliser::~Symboliser() = default;

Symboliser::Module Symboliser::add_module(const model::Module& module) {
  impl_->entries.emplace_back().module = module;
  return impl_->entries.size() - 1;
}

Symbol Symboliser::return_address(Module module, std::uint64_t address) {
  return impl_->look_up(module, address, 1);
}

Symbol Symboliser::instruction(Module module, std::uint64_t address) {
  return impl_->look_up(module, address, 0);
}

const std::vector<std::string>& Symboliser::notes() const { return impl_->notes; }

}  // namespace hitch::symbolise
