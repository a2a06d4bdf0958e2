// The composition root in the game: decides whether this process is recorded, meets the recorder,
// and sets up what needs a constructor. Everything it does is inert until then.
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/syscall.h"
#include "base/text.h"
#include "config/options.h"
#include "interpose/module_list.h"
#include "interpose/operators.h"
#include "interpose/switches.h"
#include "libc/elf_lookup.h"
#include "libc/real_libc.h"
#include "record/recorder.h"
#include "session/connect.h"
#include "session/deny_list.h"
#include "session/price.h"
#include "unwind/verify.h"
#include "unwind/walker.h"

extern "C" {
[[gnu::visibility("hidden")]] extern std::uint8_t hitch_keep_deepbind;
[[gnu::visibility("hidden")]] void hitch_find_loader_entries();
}

namespace hitch::session {
namespace {

using base::system_call;
using base::word;

constinit config::Options g_options{};
constinit bool g_options_read = false;

// Environment before libc has set `environ`: read from the kernel into a buffer that lives for
// ever.
constexpr unsigned kEnvironmentBytes = 128 * 1024;
constinit char g_environment_text[kEnvironmentBytes] = {};
constinit const char* g_environment[1024] = {};

const char* const* environment() {
  if (environ != nullptr) return environ;
  if (g_environment[0] == nullptr) {
    const long bytes =
        base::read_small_file("/proc/self/environ", g_environment_text, kEnvironmentBytes);
    unsigned count = 0;
    for (const char* variable = g_environment_text;
         variable < g_environment_text + bytes && count < 1023;
         variable += std::strlen(variable) + 1) {
      g_environment[count++] = variable;
    }
  }
  return g_environment;
}

void complain(const config::OptionRow& row, const char* value, const char* why) {
  base::Line line;
  line << "hitchtrace: " << row.env << "=" << value << " " << why << "; using " << row.fallback;
  base::say(line);
}

void read_options() {
  if (g_options_read) return;
  config::read_environment(g_options, environment(), complain);
  interpose::g_switches = {g_options.hook_dlsym, g_options.hook_present, g_options.hook_mmap,
                           g_options.hook_sleep};
  hitch_keep_deepbind = g_options.keep_deepbind ? 1 : 0;
  record::g_follow_children = g_options.children;
  g_options_read = true;
}

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

struct Executable {
  char path[512];
  const char* name;
};

void read_executable(Executable& exe) {
  const long n = system_call(SYS_readlinkat, -100, word("/proc/self/exe"), word(exe.path),
                             sizeof exe.path - 1);
  exe.path[n > 0 ? n : 0] = '\0';
  exe.name = base_name(exe.path);
}

// Neither a wrapper nor a helper, and wanted by --target when that is given.
bool is_target(const Executable& exe) {
  if (g_options.disable || getauxval(AT_SECURE) != 0) return false;
  if (g_options.target.text[0] != '\0') return matches(g_options.target.text, exe.name);
  if (is_wrapper(exe.name)) return false;
  char arguments[4096];
  const long bytes = base::read_small_file("/proc/self/cmdline", arguments, sizeof arguments);
  return bytes <= 0 || !is_helper(arguments, static_cast<unsigned long>(bytes));
}

// Field 22 of /proc/self/stat: with the pid it names this process for good, across exec.
std::uint64_t start_time() {
  char text[1024];
  if (base::read_small_file("/proc/self/stat", text, sizeof text) <= 0) return 0;
  const char* field = std::strrchr(text, ')');
  if (field == nullptr) return 0;
  for (unsigned i = 0; i < 20 && field != nullptr; ++i) field = std::strchr(field + 1, ' ');
  if (field == nullptr) return 0;
  std::uint64_t value = 0;
  for (++field; *field >= '0' && *field <= '9'; ++field) {
    value = value * 10 + static_cast<std::uint64_t>(*field - '0');
  }
  return value;
}

void join(char* out, std::size_t capacity, const char* directory, std::size_t directory_bytes,
          const char* rest) {
  const std::size_t rest_bytes = std::strlen(rest);
  if (directory_bytes + rest_bytes + 1 > capacity) {
    out[0] = '\0';
    return;
  }
  std::memcpy(out, directory, directory_bytes);
  std::memcpy(out + directory_bytes, rest, rest_bytes + 1);
}

// Starts the recorder that lies beside the library, or where an installation puts it.
long start_bare_recorder(const char* socket_name) {
  if (const char* named = config::find_variable(environment(), "HITCH_RECORDER")) {
    return start_recorder(named, socket_name, environment());
  }
  const link_map* own = libc::own_module();
  if (own == nullptr || own->l_name == nullptr) return -ENOENT;
  const std::size_t directory_bytes =
      static_cast<std::size_t>(base_name(own->l_name) - own->l_name);
  constexpr const char* kPlaces[] = {"hitchtrace-record", "../libexec/hitchtrace/hitchtrace-record",
                                     "../../libexec/hitchtrace/hitchtrace-record"};
  long status = -ENOENT;
  for (const char* place : kPlaces) {
    char path[1024];
    join(path, sizeof path, own->l_name, directory_bytes, place);
    status = start_recorder(path, socket_name, environment());
    if (status != -ENOENT) break;
  }
  return status;
}

Connection connect(const Executable& exe, bool fork_child) {
  if (const char* name = config::find_variable(environment(), "HITCH_SOCKET")) {
    const Connection given = connect_recorder(name, exe.path, fork_child);
    // A recorder that has gone leaves its name behind in the environment: then record bare.
    if (given.base != nullptr || given.why == nullptr ||
        std::strcmp(given.why, "no recorder listens") != 0) {
      return given;
    }
  }
  base::Line name;
  name << "@hitchtrace-bare-" << static_cast<std::uint64_t>(system_call(SYS_getpid)) << "-"
       << start_time();
  // The same process before an exec may have left one that listens.
  Connection connection = connect_recorder(name.text(), exe.path, fork_child);
  if (connection.base != nullptr ||
      std::strcmp(connection.why != nullptr ? connection.why : "", "no recorder listens") != 0) {
    return connection;
  }
  if (start_bare_recorder(name.text()) != 0) {
    connection.why = "hitchtrace-record was not found beside the library (set HITCH_RECORDER)";
    return connection;
  }
  for (unsigned attempt = 0; attempt < 3000; ++attempt) {
    const long millisecond[2] = {0, 1000000};
    system_call(SYS_nanosleep, word(millisecond), 0);
    connection = connect_recorder(name.text(), exe.path, fork_child);
    if (connection.base != nullptr || connection.why == nullptr ||
        std::strcmp(connection.why, "no recorder listens") != 0) {
      return connection;
    }
  }
  connection.why = "the recorder did not start";
  return connection;
}

constexpr std::size_t in_pages(std::size_t bytes) { return (bytes + 4095) & ~std::size_t{4095}; }

// Private zeroed memory, or null.
char* map_memory(std::size_t bytes) {
  const long address = system_call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address < 0 && address > -4096 ? nullptr : reinterpret_cast<char*>(address);
}

// Spares a new thread's first allocation the page faults. Kernels before 5.14 do not know it.
void populate(char* memory, std::size_t bytes) {
  constexpr long kPopulateWrite = 23;
  system_call(SYS_madvise, word(memory), static_cast<long>(bytes), kPopulateWrite);
}

// How many entries are kept of a callstack; 0: none are taken, and nothing is set up for them.
unsigned prepare_stacks(const format::SharedHeader& header) {
  constexpr std::uint64_t kMostDepth = unwind::kMostEntries - 1;  // and a marker
  if (header.level != static_cast<std::uint32_t>(format::Level::kTrace)) return 0;
  if (g_options.stack_depth == 0) return 0;
  void* find_object = reinterpret_cast<void*>(libc::find_default("_dl_find_object", nullptr));
  if (!unwind::prepare_walker(find_object)) return 0;
  return static_cast<unsigned>(g_options.stack_depth < kMostDepth ? g_options.stack_depth
                                                                  : kMostDepth);
}

// What threads remember, and the process' own words, in memory that a forked child finds wiped.
record::Process* make_process(const Connection& connection) {
  constexpr std::size_t kProcessBytes = in_pages(sizeof(record::Process));
  constexpr std::size_t kStateBytes = in_pages(format::kSlotCount * sizeof(record::ThreadState));
  constexpr std::size_t kMemoBytes = format::kSlotCount * sizeof(unwind::StackMemo);
  constexpr std::size_t kFirstMemos = in_pages(64 * sizeof(unwind::StackMemo));
  constexpr std::size_t kBytes = kProcessBytes + kStateBytes + kMemoBytes;
  char* memory = map_memory(kBytes);
  if (memory == nullptr) return nullptr;
  if (system_call(SYS_madvise, word(memory), static_cast<long>(kBytes), MADV_WIPEONFORK) != 0) {
    system_call(SYS_munmap, word(memory), static_cast<long>(kBytes));
    return nullptr;  // kernel before 4.14: a child would write into the parent's trace
  }
  populate(memory, kProcessBytes + kStateBytes + kFirstMemos);
  auto* process = reinterpret_cast<record::Process*>(memory);
  auto* header = reinterpret_cast<format::SharedHeader*>(connection.base);
  process->base = connection.base;
  process->states = reinterpret_cast<record::ThreadState*>(memory + kProcessBytes);
  process->memos = reinterpret_cast<unwind::StackMemo*>(memory + kProcessBytes + kStateBytes);
  process->pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
  process->stack_depth = prepare_stacks(*header);
  process->geometry = {header->total_bytes,   header->slots_offset, header->small_offset,
                       header->chunks_offset, header->slot_count,   header->chunk_count};
  process->header = header;
  header->shared_begin.store(reinterpret_cast<std::uintptr_t>(connection.base),
                             std::memory_order_relaxed);
  header->shared_end.store(reinterpret_cast<std::uintptr_t>(connection.base) + connection.bytes,
                           std::memory_order_relaxed);
  header->private_begin.store(reinterpret_cast<std::uintptr_t>(memory), std::memory_order_relaxed);
  header->private_end.store(reinterpret_cast<std::uintptr_t>(memory) + kBytes,
                            std::memory_order_relaxed);
  return process;
}

// Which module serves malloc beneath us, and the warning when it is not us that is asked.
void note_allocator(format::SharedHeader& header) {
  const link_map* definer = libc::module_of(reinterpret_cast<std::uintptr_t>(libc::g_real.malloc));
  const char* name = definer != nullptr && definer->l_name != nullptr ? definer->l_name : "unknown";
  base::copy_text(header.allocator, name);
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  if (definer != nullptr && std::strstr(name, "libc.so") == nullptr &&
      libc::module_range(definer, start, end)) {
    interpose::g_allocator = {start, end - start};
  }
  const link_map* asked = nullptr;
  libc::find_default("malloc", &asked);
  if (asked != nullptr && asked != libc::own_module()) {
    const char* who = asked == libc::first_module() ? "the executable itself" : asked->l_name;
    base::Line line;
    line << "malloc is defined by " << who;
    base::copy_text(header.allocator, line.text());
  }
}

// What may allocate, take the loader's lock or call into libraries: not for the first malloc.
void finish_start() {
  record::ThreadState* state = record::enter();
  if (state == nullptr) return;
  hitch_find_loader_entries();
  note_allocator(*state->header);
  interpose::bind_operators();
  measure_prices(*state);
  if (g_options.verify_stacks) {
    const record::HookScope scope(*state);
    const record::OwnWork own(scope);
    if (!unwind::prepare_verification(libc::g_real.dlopen, libc::g_real.dlsym)) {
      base::Line line;
      line << "hitchtrace: stacks are not verified: libunwind.so.8 is not installed";
      base::say(line);
    }
  }
  interpose::announce_modules(*state);
}

[[gnu::constructor(101)]] void construct() {
  const int saved_errno = errno;
  finish_start();
  errno = saved_errno;
}

}  // namespace
}  // namespace hitch::session

namespace hitch::record {

bool start_process(bool fork_child) {
  using namespace session;
  // A sanitizer's allocator must be the first in the process and cannot be timed: stand aside
  // before anything of libc is called, its interceptors are not ready yet.
  if (libc::find_default("__asan_init", nullptr) != nullptr ||
      libc::find_default("__tsan_init", nullptr) != nullptr) {
    return false;
  }
  read_options();
  Executable exe;
  read_executable(exe);
  if (!is_target(exe)) return false;
  const Connection connection = connect(exe, fork_child);
  if (connection.base == nullptr) {
    if (connection.why != nullptr) {
      base::Line line;
      line << "hitchtrace: " << exe.name << " runs unrecorded: " << connection.why;
      base::say(line);
    }
    return false;
  }
  Process* process = make_process(connection);
  if (process == nullptr) {
    system_call(SYS_munmap, word(connection.base), static_cast<long>(connection.bytes));
    return false;
  }
  if (g_options.verbose) {
    base::Line line;
    line << "hitchtrace: recording " << exe.path << " (pid "
         << static_cast<std::uint64_t>(system_call(SYS_getpid)) << ")";
    base::say(line);
  }
  __atomic_store_n(&g_process, process, __ATOMIC_RELEASE);
  return true;
}

}  // namespace hitch::record
