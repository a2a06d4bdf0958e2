#include "viewer/symbolise/debug_files.h"

#include <filesystem>
#include <system_error>

namespace hitch::symbolise {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystemTree = "/usr/lib/debug";
// A folder of symbols holds some hundred files; this is for a folder given by mistake.
constexpr int kMaxFiles = 50000;
constexpr int kMaxDepth = 16;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool has_debug_lines(const std::string& path) {
  const ElfFile file(path);
  return !file.section(".debug_info", nullptr).empty() ||
         !file.section(".zdebug_info", nullptr).empty();
}

}  // namespace

DebugFiles::DebugFiles(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {}

void DebugFiles::add_file(const std::string& path) {
  const ElfFile file(path);
  if (!file.is_open()) return;
  const std::string id = file.build_id();
  if (!id.empty()) files_by_id_.emplace(id, path);
  files_by_name_.emplace(fs::path(path).filename().string(), path);
}

void DebugFiles::read_symbols() {
  if (read_) return;
  read_ = true;
  for (const std::string& one : symbols_) {
    std::error_code error;
    if (fs::is_directory(one, error)) {
      if (fs::is_directory(one + "/.build-id", error)) trees_.push_back(one);
      const std::size_t before = files_by_name_.size();
      int files = 0;
      fs::recursive_directory_iterator it(one, fs::directory_options::skip_permission_denied,
                                          error);
      for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (it.depth() > kMaxDepth || it->path().filename() == ".build-id") {
          it.disable_recursion_pending();
          continue;
        }
        if (++files > kMaxFiles) {
          complaints_.push_back("--symbols " + one + ": only its first " +
                                std::to_string(kMaxFiles) + " files were looked at.");
          break;
        }
        if (it->is_regular_file(error)) add_file(it->path().string());
      }
      if (files_by_name_.size() == before && (trees_.empty() || trees_.back() != one))
        complaints_.push_back("--symbols " + one + ": no ELF file in this folder.");
    } else if (is_file(one)) {
      const std::size_t before = files_by_name_.size();
      add_file(one);
      if (files_by_name_.size() == before)
        complaints_.push_back("--symbols " + one + ": this is not an ELF file.");
    } else {
      complaints_.push_back("--symbols " + one + ": no such file or folder.");
    }
  }
  trees_.emplace_back(kSystemTree);
}

std::string DebugFiles::by_build_id(const std::string& build_id) {
  read_symbols();
  if (build_id.size() < 2) return {};
  std::string found;
  const auto [first, last] = files_by_id_.equal_range(build_id);
  for (auto it = first; it != last; ++it)
    if (found.empty() || has_debug_lines(it->second)) found = it->second;
  if (!found.empty()) return found;
  const std::string hex = to_hex(build_id);
  for (const std::string& tree : trees_) {
    const std::string stem = tree + "/.build-id/" + hex.substr(0, 2) + '/' + hex.substr(2);
    for (const std::string& path : {stem + ".debug", stem})
      if (is_file(path) && ElfFile(path).build_id() == build_id) return path;
  }
  return {};
}

std::string DebugFiles::debug_file_of(const ElfFile& file) {
  const std::string id = file.build_id();
  std::string found = by_build_id(id);
  std::error_code error;
  if (!found.empty() && !fs::equivalent(found, file.path(), error)) return found;

  const ElfFile::DebugLink link = file.debug_link();
  if (link.name.empty() || link.name.find('/') != std::string::npos) return {};
  const fs::path folder = fs::absolute(file.path(), error).parent_path();
  for (const fs::path& path : {folder / link.name, folder / ".debug" / link.name,
                               fs::path(kSystemTree + folder.string()) / link.name}) {
    if (!is_file(path) || fs::equivalent(path, file.path(), error)) continue;
    const std::string other_id = ElfFile(path).build_id();
    std::uint32_t crc = 0;
    const bool same = !id.empty() && !other_id.empty() ? id == other_id
                                                       : file_crc32(path, crc) && crc == link.crc;
    if (same) return path;
  }
  return {};
}

std::string DebugFiles::by_name(const std::string& name) {
  read_symbols();
  const auto found = files_by_name_.find(name);
  return found == files_by_name_.end() ? std::string() : found->second;
}

const std::vector<std::string>& DebugFiles::complaints() {
  read_symbols();
  return complaints_;
}

}  // namespace hitch::symbolise
