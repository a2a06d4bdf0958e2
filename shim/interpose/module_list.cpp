#include "interpose/module_list.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/syscall.h"
#include "record/recorder.h"
#include "unwind/walker.h"

namespace hitch::interpose {
namespace {

struct Known {
  std::uintptr_t bias;
  std::uintptr_t start;
  std::uintptr_t end;
  bool seen;
};
// More modules than any game has; further ones are found by the recorder in /proc/PID/maps.
constexpr unsigned kCapacity = 2048;
constinit Known g_known[kCapacity] = {};
constinit unsigned g_count = 0;
constinit unsigned long long g_adds = 0;
constinit unsigned long long g_subs = 0;
constinit int g_busy = 0;

struct Walk {
  const record::HookScope& scope;
  std::uint64_t key;
  bool complete;  // false: only the counters were looked at
};

void copy_build_id(const dl_phdr_info& info, const ElfW(Phdr) & segment,
                   format::ModuleRecord& record) {
  const char* note = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
  const char* end = note + segment.p_memsz;
  const std::size_t alignment = segment.p_align >= 8 ? 8 : 4;
  const auto up = [alignment](std::size_t n) { return (n + alignment - 1) & ~(alignment - 1); };
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const char* name = note + sizeof header;
    const char* description = name + up(header.n_namesz);
    if (description + header.n_descsz > end) return;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(name, "GNU", 4) == 0 && header.n_descsz <= sizeof record.build_id) {
      std::memcpy(record.build_id, description, header.n_descsz);
      record.build_id_bytes = static_cast<std::uint8_t>(header.n_descsz);
      return;
    }
    note = description + up(header.n_descsz);
  }
}

void write_module(const dl_phdr_info& info, const Walk& walk, std::uintptr_t start,
                  std::uintptr_t end) {
  struct {
    format::ModuleRecord record;
    char path[format::kMaxText + 8];
  } out;
  std::memset(&out, 0, sizeof out);
  out.record.head = format::make_head(format::BufferKind::kModule, walk.key);
  out.record.bias = info.dlpi_addr;
  out.record.start = start;
  out.record.end = end;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type == PT_NOTE && out.record.build_id_bytes == 0) {
      copy_build_id(info, info.dlpi_phdr[i], out.record);
    }
  }
  std::size_t length = std::strlen(info.dlpi_name);
  if (length != 0) {
    if (length > format::kMaxText) length = format::kMaxText;
    std::memcpy(out.path, info.dlpi_name, length);
  } else {
    const long n = base::system_call(SYS_readlinkat, -100, base::word("/proc/self/exe"),
                                     base::word(out.path), format::kMaxText);
    length = n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  out.record.path_bytes = static_cast<std::uint16_t>(length);
  append(walk.scope, reinterpret_cast<const std::uint64_t*>(&out),
         static_cast<unsigned>(sizeof out.record / 8) + format::words_for_bytes(length));
}

int visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  if (!walk.complete) {
    if (info->dlpi_adds == g_adds && info->dlpi_subs == g_subs) return 1;
    g_adds = info->dlpi_adds;
    g_subs = info->dlpi_subs;
    walk.complete = true;
  }
  std::uintptr_t start = ~std::uintptr_t{0};
  std::uintptr_t end = 0;
  std::uintptr_t eh_frame_hdr = 0;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t from = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) eh_frame_hdr = from;
    if (segment.p_type != PT_LOAD) continue;
    if (from < start) start = from;
    if (from + segment.p_memsz > end) end = from + segment.p_memsz;
  }
  if (end <= start) return 0;
  for (unsigned i = 0; i < g_count; ++i) {
    if (g_known[i].bias == info->dlpi_addr && g_known[i].start == start) {
      g_known[i].seen = true;
      return 0;
    }
  }
  if (g_count == kCapacity) return 0;
  g_known[g_count++] = {info->dlpi_addr, start, end, true};
  unwind::note_module(start, end, eh_frame_hdr);
  write_module(*info, walk, start, end);
  return 0;
}

}  // namespace

void announce_modules(record::ThreadState& state) {
  if (__atomic_exchange_n(&g_busy, 1, __ATOMIC_ACQUIRE) != 0) return;
  {
    const record::HookScope scope(state);
    const record::OwnWork own(scope);
    Walk walk{scope, record::now(state) - state.tsc_base, false};
    for (unsigned i = 0; i < g_count; ++i) g_known[i].seen = false;
    dl_iterate_phdr(visit, &walk);
    if (walk.complete) {
      unsigned kept = 0;
      for (unsigned i = 0; i < g_count; ++i) {
        if (g_known[i].seen) {
          g_known[kept++] = g_known[i];
          continue;
        }
        unwind::forget_module(g_known[i].start);
        unwind::forget_rules(g_known[i].start, g_known[i].end);
        const std::uint64_t words[2] = {
            format::make_head(format::BufferKind::kModuleGone, walk.key), g_known[i].bias};
        append(scope, words, 2);
      }
      g_count = kept;
    }
  }
  __atomic_store_n(&g_busy, 0, __ATOMIC_RELEASE);
}

}  // namespace hitch::interpose
