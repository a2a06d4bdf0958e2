// Where the library and the recorder are, next to this command in a build tree or an installation.
#pragma once
#include <string>
#include <vector>

namespace hitch::app {

// Folder of the running executable; empty when /proc is missing.
std::string own_folder();

struct Found {
  std::string path;                // absolute; empty: not found
  std::vector<std::string> tried;  // places looked at
};

// `override_path` (HITCH_LIBRARY, HITCH_RECORDER) is used alone when not empty.
Found find_library(const std::string& folder, const std::string& override_path);
Found find_recorder(const std::string& folder, const std::string& override_path);

}  // namespace hitch::app
