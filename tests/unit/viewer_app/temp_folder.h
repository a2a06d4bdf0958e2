// A folder of a test's own, and the files in it.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace hitch::app {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "hitch-app-XXXXXX";
    path_ = mkdtemp(pattern.data()) == nullptr ? std::string() : pattern;
  }
  ~TempFolder() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + '/' + name; }
  const std::string& path() const { return path_; }

  // Executable unless told otherwise. Returns its path.
  std::string write(const std::string& name, std::string_view content,
                    bool executable = true) const {
    namespace fs = std::filesystem;
    const fs::path path = fs::path(path_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    fs::permissions(path, executable ? fs::perms(0755) : fs::perms(0644));
    return path;
  }

 private:
  std::string path_;
};

}  // namespace hitch::app
