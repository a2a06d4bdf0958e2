#include "recorder/resolve/modules.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace hitch::resolve {

namespace {

constexpr std::uint64_t kFreeLooks = 8;
constexpr std::uint64_t kLookEveryMs = 500;
constexpr std::uint64_t kPage = 4096;

ElfSummary summarise(const ProcessFiles& process, const MappedFile& file) {
  ElfSummary elf;
  const int fd = process.open_file(file);
  if (fd < 0) return elf;
  read_elf(fd, elf);
  close(fd);
  return elf;
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

}  // namespace

void Modules::loaded(const std::uint64_t* words, unsigned word_count) {
  format::ModuleRecord record;
  if (word_count * 8 < sizeof(record)) return;
  std::memcpy(&record, words, sizeof(record));
  const std::size_t room = word_count * 8 - sizeof(record);
  const std::size_t path_bytes = std::min<std::size_t>(record.path_bytes, room);
  if (record.end <= record.start) return;
  Loaded module{record.start,
                record.end,
                record.bias,
                0,
                std::string(reinterpret_cast<const char*>(words) + sizeof(record), path_bytes),
                std::string(reinterpret_cast<const char*>(record.build_id),
                            std::min<std::size_t>(record.build_id_bytes, sizeof(record.build_id)))};
  ElfSummary elf;
  if (!module.path.empty() && module.path[0] == '/') {
    elf = summarise(process_, {module.start, module.end, 0, module.path});
  }
  // A file that was replaced since it was mapped describes another build.
  if (!module.build_id.empty() && module.build_id != elf.build_id) elf.segments.clear();
  if (module.build_id.empty()) module.build_id = elf.build_id;
  add(std::move(module), format::key_of(record.head), elf);
}

bool Modules::Loaded::same_as(const Loaded& other) const {
  if (start != other.start || bias != other.bias || build_id != other.build_id) return false;
  return !build_id.empty() || path == other.path;
}

void Modules::retire(std::size_t index, std::uint64_t key) {
  const auto place = loaded_.begin() + static_cast<std::ptrdiff_t>(index);
  out_.put(format::trace::ModuleGone{place->id, key});
  std::erase_if(gone_, [&](const Loaded& l) { return l.overlaps(*place); });
  gone_.push_back(std::move(*place));
  loaded_.erase(place);
}

std::vector<AddressRange> Modules::take_reused() { return std::exchange(reused_, {}); }

void Modules::add(Loaded module, std::uint64_t key, const ElfSummary& elf) {
  if (std::any_of(loaded_.begin(), loaded_.end(),
                  [&](const Loaded& l) { return l.same_as(module); })) {
    return;
  }
  // Whatever lay there before is gone.
  for (std::size_t i = 0; i < loaded_.size();) {
    if (loaded_[i].overlaps(module)) {
      retire(i, key);
    } else {
      ++i;
    }
  }
  for (const Loaded& before : gone_) {
    if (before.overlaps(module) && !before.same_as(module))
      reused_.push_back({before.start, before.end});
  }
  std::erase_if(gone_, [&](const Loaded& l) { return l.overlaps(module); });
  module.id = next_id_++;
  format::trace::Module record;
  record.id = module.id;
  record.loaded = key;
  record.path = module.path;
  record.build_id = module.build_id;
  record.bias = module.bias;
  record.start = module.start;
  record.end = module.end;
  for (const ElfSegment& segment : elf.segments) {
    if (!segment.executable) continue;
    record.segments.insert(record.segments.end(), {segment.address, segment.bytes, segment.offset});
  }
  out_.put(record);
  const auto place =
      std::lower_bound(loaded_.begin(), loaded_.end(), module.start,
                       [](const Loaded& l, std::uint64_t start) { return l.start < start; });
  loaded_.insert(place, std::move(module));
}

void Modules::unloaded(std::uint64_t bias, std::uint64_t key) {
  const auto gone = std::find_if(loaded_.begin(), loaded_.end(),
                                 [bias](const Loaded& l) { return l.bias == bias; });
  if (gone != loaded_.end()) retire(static_cast<std::size_t>(gone - loaded_.begin()), key);
}

const Modules::Loaded* Modules::at(std::uint64_t address) const {
  auto after = std::upper_bound(loaded_.begin(), loaded_.end(), address,
                                [](std::uint64_t a, const Loaded& l) { return a < l.start; });
  if (after == loaded_.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

std::uint64_t Modules::find(std::uint64_t address) const {
  const Loaded* module = at(address);
  return module != nullptr ? module->id + 1 : 0;
}

void Modules::look_again(std::uint64_t key, std::uint64_t now_ms) {
  if (looks_ >= kFreeLooks && now_ms < last_look_ms_ + kLookEveryMs) return;
  ++looks_;
  last_look_ms_ = now_ms;
  const std::vector<MappedFile> files = process_.maps();
  for (std::size_t i = 0; i < files.size();) {
    std::size_t last = i;
    while (last + 1 < files.size() && files[last + 1].path == files[i].path) ++last;
    const MappedFile& first = files[i];
    const std::uint64_t end = files[last].end;
    i = last + 1;
    const Loaded* known = at(first.start);
    if (known != nullptr && known->path == first.path) continue;
    const ElfSummary elf = summarise(process_, first);
    // Data files are mapped too: a module is what has code.
    const auto holder =
        std::find_if(elf.segments.begin(), elf.segments.end(),
                     [&](const ElfSegment& s) { return s.offset / kPage * kPage == first.offset; });
    if (holder == elf.segments.end()) continue;
    const std::uint64_t bias = first.start - holder->address / kPage * kPage;
    if (known != nullptr && known->bias == bias && known->build_id == elf.build_id &&
        !elf.build_id.empty()) {
      continue;  // told under the name of a link to it
    }
    add({first.start, end, bias, 0, first.path, elf.build_id}, key, elf);
  }
}

std::string Modules::describe(std::uint64_t address) const {
  char text[32];
  const Loaded* module = at(address);
  if (module == nullptr) {
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }
  const std::size_t slash = module->path.rfind('/');
  std::snprintf(text, sizeof(text), "+0x%llx",
                static_cast<unsigned long long>(address - module->bias));
  return (slash == std::string::npos ? module->path : module->path.substr(slash + 1)) + text;
}

std::string Modules::build_id_of(const std::string& path) const {
  for (const Loaded& module : loaded_) {
    if (module.path == path) return hex(module.build_id);
  }
  return {};
}

}  // namespace hitch::resolve
