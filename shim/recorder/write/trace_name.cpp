#include "recorder/write/trace_name.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace hitch::write {

namespace {

constexpr int kMostTries = 10000;
constexpr std::string_view kExtension = ".hitch";

void make_directories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0777);
  }
  mkdir(path.c_str(), 0777);
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < 0x20) c = '_';
  }
  return name.empty() ? "game" : name;
}

std::string stem_of(const std::string& path, std::string& extension) {
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash + 2) || dot == 0) {
    extension.clear();
    return path;
  }
  extension = path.substr(dot);
  return path.substr(0, dot);
}

// The first free one of stem.ext, stem-2.ext, ...
OpenedTrace create_free(const std::string& stem, const std::string& extension) {
  OpenedTrace opened;
  for (int n = 1; n < kMostTries; ++n) {
    opened.path = stem;
    if (n > 1) opened.path.append("-").append(std::to_string(n));
    opened.path += extension;
    opened.descriptor = open(opened.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (opened.descriptor >= 0) {
      // Tells `hitchtrace recover` that the file is still growing. Not every file system can.
      flock(opened.descriptor, LOCK_EX | LOCK_NB);
      return opened;
    }
    if (errno != EEXIST) break;
  }
  opened.error = "cannot create " + opened.path + ": " + std::strerror(errno);
  return opened;
}

}  // namespace

std::string state_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && state[0] == '/') return std::string(state).append("/hitchtrace");
  const char* home = std::getenv("HOME");
  if (home != nullptr && home[0] == '/')
    return std::string(home).append("/.local/state/hitchtrace");
  return {};
}

OpenedTrace create_trace(const NameRequest& request, std::time_t now) {
  if (!request.output.empty()) {
    std::string extension;
    const std::string stem = stem_of(request.output, extension);
    OpenedTrace opened = create_free(stem, extension);
    if (opened.descriptor >= 0 && opened.path != request.output) {
      opened.note = request.output + " exists; writing " + opened.path;
    }
    return opened;
  }
  std::tm local{};
  localtime_r(&now, &local);
  char when[32];
  std::strftime(when, sizeof(when), "-%Y%m%d-%H%M%S", &local);
  const std::string name = base_name(request.exe) + when;
  const std::string extension(kExtension);
  if (!request.directory.empty()) {
    make_directories(request.directory);
    return create_free(request.directory + "/" + name, extension);
  }
  OpenedTrace opened = create_free(name, extension);
  if (opened.descriptor >= 0 || request.fallback.empty()) return opened;
  make_directories(request.fallback);
  OpenedTrace second = create_free(request.fallback + "/" + name, extension);
  if (second.descriptor < 0) return opened;
  second.note = "the current directory is not writable; writing " + second.path;
  return second;
}

}  // namespace hitch::write
