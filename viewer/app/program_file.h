// What the file of a program says about whether and how it can be recorded. Reads the file only;
// bytes are untrusted.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace hitch::app {

enum class ProgramKind : std::uint8_t {
  kMissing,
  kNotAFile,       // a folder, a device
  kNotExecutable,  // no permission to execute
  kElf,            // x86-64, the class and machine of the library
  kElf32,          // 32-bit
  kOtherMachine,   // 64-bit, but not x86-64
  kScript,         // #!
  kWindows,        // MZ
  kOther,          // executable and none of these; the kernel or a shell may know it
};

struct ProgramFacts {
  std::string path;
  ProgramKind kind = ProgramKind::kMissing;
  std::string interpreter;           // ELF: the loader; script: the program after #!
  std::string interpreter_argument;  // script: the rest of its first line
  std::vector<std::string> needed;   // libraries it is linked with
  bool is_static = false;            // ELF without a loader
  // Runs with other privileges than its caller's: the loader then ignores preloaded libraries.
  bool is_set_user = false;
  bool has_capabilities = false;
  // It brings its own malloc, which comes before any preloaded one.
  bool defines_malloc = false;
  bool defines_operator_new = false;
  std::string allocator;     // one known by name that is inside; else empty
  std::string asan_library;  // soname of the sanitizer runtime it needs; else empty
  bool has_static_sanitizer = false;
};

// `user` and `group`: of the caller.
ProgramFacts inspect_program(const std::string& path, uid_t user, gid_t group);

}  // namespace hitch::app
