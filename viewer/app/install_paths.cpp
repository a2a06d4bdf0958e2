#include "viewer/app/install_paths.h"

#include <filesystem>
#include <system_error>

namespace hitch::app {
namespace {

namespace fs = std::filesystem;

Found first_file(std::vector<std::string> places) {
  Found found;
  for (std::string& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) {
      found.path = fs::canonical(place, error).string();
      return found;
    }
    found.tried.push_back(std::move(place));
  }
  return found;
}

}  // namespace

std::string own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

Found find_library(const std::string& folder, const std::string& override_path) {
  if (!override_path.empty()) return first_file({override_path});
  const std::string name = "libhitchtrace.so";
  return first_file({folder + "/" + name, folder + "/" HITCH_LIB_FROM_BIN "/" + name,
                     folder + "/../lib/" + name, folder + "/../lib/x86_64-linux-gnu/" + name,
                     folder + "/../lib64/" + name});
}

Found find_recorder(const std::string& folder, const std::string& override_path) {
  if (!override_path.empty()) return first_file({override_path});
  const std::string name = "hitchtrace-record";
  return first_file({folder + "/" + name, folder + "/../shim/recorder/recorder/" + name,
                     folder + "/" HITCH_LIBEXEC_FROM_BIN "/" + name,
                     folder + "/../libexec/hitchtrace/" + name});
}

}  // namespace hitch::app
