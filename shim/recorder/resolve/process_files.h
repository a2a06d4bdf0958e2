// What /proc says about the game. Every read may fail: the game may be gone.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hitch::resolve {

struct MappedFile {
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t offset;  // of `start` in the file
  std::string path;
};

struct PrivateMapping {
  std::uint64_t start;
  std::uint64_t end;
};

enum class MappingKind : std::uint8_t {
  kAnonymous,
  kStack,   // of a thread: the kernel's name for the first one's; else above an inaccessible guard
  kFile,    // path says which
  kShared,  // shared memory without a name in the file system; path is its label
};

struct Mapping {
  std::uint64_t start;
  std::uint64_t end;
  MappingKind kind;
  std::string path;
};

struct ResidentMemory {
  std::uint64_t bytes;
  std::uint64_t private_bytes;  // of them: without a file or shared memory behind them
};

class ProcessFiles {
 public:
  explicit ProcessFiles(pid_t pid) : base_("/proc/" + std::to_string(pid)) {}

  // Mappings that have a file with an absolute path behind them, in address order.
  std::vector<MappedFile> maps() const;
  // Writable private mappings without a file: heaps, thread stacks. In address order; neighbours
  // are one.
  std::vector<PrivateMapping> private_mappings() const;
  // Everything that is mapped, in address order.
  std::vector<Mapping> mappings() const;
  std::optional<ResidentMemory> resident_memory() const;
  // Opens a mapped file as the game's process sees it; -1 when that is not possible.
  int open_file(const MappedFile& file) const;
  // comm of a thread of the recorder's pid namespace; empty when gone.
  std::string thread_name(pid_t tid) const;
  bool thread_exists(pid_t tid) const;
  // Threads as the recorder numbers them.
  std::vector<pid_t> threads() const;
  // The innermost id in a thread's NSpid line: what gettid() returns inside the game. 0: unknown.
  std::uint32_t id_inside(pid_t tid) const;
  std::string executable() const;
  // Arguments, separated by spaces; those with spaces or quotes are quoted.
  std::string command_line() const;
  std::string working_directory() const;

 private:
  std::string base_;
};

// Whole content of a small file, or empty.
std::string read_small_file(const std::string& path);

}  // namespace hitch::resolve
