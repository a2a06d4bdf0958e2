#include "recorder/resolve/process_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hitch::resolve {

namespace {

constexpr std::size_t kLargestFile = 16 * 1024 * 1024;

std::string read_link(const std::string& path) {
  char target[4096];
  const ssize_t length = readlink(path.c_str(), target, sizeof(target));
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

int open_regular(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return -1;
  struct stat status {};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) return fd;
  close(fd);
  return -1;
}

}  // namespace

std::string read_small_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string content;
  char buffer[16384];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got <= 0 || content.size() > kLargestFile) break;
    content.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  return content;
}

namespace {

// One line of /proc/<pid>/maps.
struct MapsLine {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  char rights[8] = "";  // "rw-p"
  std::uint64_t offset = 0;
  unsigned long inode = 0;
  std::string path;  // or a label in brackets, or empty

  bool is_private() const { return rights[3] == 'p'; }
};

// f(MapsLine&) for each, in address order.
template <class F>
void for_each_line_of_maps(const std::string& text, F&& f) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, line_end - at);
    at = line_end + 1;
    MapsLine mapped;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %lu %n",
                    &mapped.start, &mapped.end, mapped.rights, &mapped.offset, &mapped.inode,
                    &path_at) != 5 ||
        mapped.end <= mapped.start) {
      continue;
    }
    if (path_at > 0 && static_cast<std::size_t>(path_at) < line.size())
      mapped.path = line.substr(static_cast<std::size_t>(path_at));
    f(mapped);
  }
}

}  // namespace

std::vector<MappedFile> ProcessFiles::maps() const {
  std::vector<MappedFile> files;
  for_each_line_of_maps(read_small_file(base_ + "/maps"), [&](MapsLine& mapped) {
    if (mapped.path[0] == '/')
      files.push_back({mapped.start, mapped.end, mapped.offset, std::move(mapped.path)});
  });
  return files;
}

std::vector<PrivateMapping> ProcessFiles::private_mappings() const {
  std::vector<PrivateMapping> mappings;
  for_each_line_of_maps(read_small_file(base_ + "/maps"), [&](const MapsLine& mapped) {
    if (mapped.inode != 0 || mapped.rights[1] != 'w' || !mapped.is_private()) return;
    if (!mappings.empty() && mappings.back().end == mapped.start) {
      mappings.back().end = mapped.end;
    } else {
      mappings.push_back({mapped.start, mapped.end});
    }
  });
  return mappings;
}

std::vector<Mapping> ProcessFiles::mappings() const {
  std::vector<Mapping> mappings;
  std::uint64_t guard_end = 0;
  for_each_line_of_maps(read_small_file(base_ + "/maps"), [&](MapsLine& mapped) {
    const bool accessible = mapped.rights[0] == 'r' || mapped.rights[1] == 'w';
    const bool guarded = guard_end == mapped.start && accessible;
    guard_end = accessible ? 0 : mapped.end;
    MappingKind kind = MappingKind::kAnonymous;
    if (mapped.path == "[stack]" || (guarded && mapped.path.empty() && mapped.is_private())) {
      kind = MappingKind::kStack;
    } else if (!mapped.is_private() &&
               (mapped.path.starts_with("/memfd:") || mapped.path.starts_with("/SYSV"))) {
      kind = MappingKind::kShared;
    } else if (mapped.path[0] == '/') {
      kind = MappingKind::kFile;
    }
    mappings.push_back({mapped.start, mapped.end, kind, std::move(mapped.path)});
  });
  return mappings;
}

std::optional<ResidentMemory> ProcessFiles::resident_memory() const {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned long long all = 0;
  unsigned long long resident = 0;
  unsigned long long shared = 0;
  const std::string text = read_small_file(base_ + "/statm");
  if (std::sscanf(text.c_str(), "%llu %llu %llu", &all, &resident, &shared) != 3 || resident == 0)
    return std::nullopt;
  return ResidentMemory{resident * page, (resident - std::min(shared, resident)) * page};
}

int ProcessFiles::open_file(const MappedFile& file) const {
  int fd = open_regular(base_ + "/root" + file.path);
  if (fd >= 0) return fd;
  char range[64];
  std::snprintf(range, sizeof(range), "/map_files/%" PRIx64 "-%" PRIx64, file.start, file.end);
  fd = open_regular(base_ + range);
  return fd >= 0 ? fd : open_regular(file.path);
}

std::string ProcessFiles::thread_name(pid_t tid) const {
  std::string name = read_small_file(base_ + "/task/" + std::to_string(tid) + "/comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

bool ProcessFiles::thread_exists(pid_t tid) const {
  return access((base_ + "/task/" + std::to_string(tid)).c_str(), F_OK) == 0;
}

std::vector<pid_t> ProcessFiles::threads() const {
  std::vector<pid_t> found;
  DIR* directory = opendir((base_ + "/task").c_str());
  if (directory == nullptr) return found;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') {
      found.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
    }
  }
  closedir(directory);
  return found;
}

std::uint32_t ProcessFiles::id_inside(pid_t tid) const {
  const std::string status = read_small_file(base_ + "/task/" + std::to_string(tid) + "/status");
  const std::size_t line = status.find("\nNSpid:");
  if (line == std::string::npos) return static_cast<std::uint32_t>(tid);
  const std::size_t end = status.find('\n', line + 1);
  const std::size_t last = status.find_last_of(" \t", end);
  if (last == std::string::npos || last < line) return 0;
  return static_cast<std::uint32_t>(std::strtoul(status.c_str() + last, nullptr, 10));
}

std::string ProcessFiles::executable() const { return read_link(base_ + "/exe"); }

std::string ProcessFiles::working_directory() const { return read_link(base_ + "/cwd"); }

std::string ProcessFiles::command_line() const {
  const std::string raw = read_small_file(base_ + "/cmdline");
  std::string line;
  for (std::size_t at = 0; at < raw.size();) {
    std::size_t end = raw.find('\0', at);
    if (end == std::string::npos) end = raw.size();
    const std::string_view argument(raw.data() + at, end - at);
    at = end + 1;
    if (!line.empty()) line += ' ';
    if (!argument.empty() && argument.find_first_of(" \t\n'\"\\") == std::string_view::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace hitch::resolve
