// Where on this machine the file with a module's code and the file with its debug information are.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "viewer/symbolise/elf_file.h"

namespace hitch::symbolise {

class DebugFiles {
 public:
  // `symbols` as in Settings. The folders are read at the first question.
  explicit DebugFiles(std::vector<std::string> symbols);

  // A file with this build-id among `symbols` or in the system's .build-id tree, else empty. It may
  // be the stripped file, the unstripped one, or its split-off debug information.
  std::string by_build_id(const std::string& build_id);

  // The split-off debug information of `file`: by build-id, then by its .gnu_debuglink. Verified.
  // Else empty.
  std::string debug_file_of(const ElfFile& file);

  // A file among `symbols` with this name, for modules without a build-id. Else empty.
  std::string by_name(const std::string& name);

  // A sentence for each of `symbols` that does not exist or holds nothing to use.
  const std::vector<std::string>& complaints();

 private:
  void read_symbols();
  void add_file(const std::string& path);

  std::vector<std::string> symbols_;
  std::vector<std::string> trees_;  // folders with a .build-id folder in them
  std::unordered_multimap<std::string, std::string> files_by_id_;
  std::unordered_map<std::string, std::string> files_by_name_;
  std::vector<std::string> complaints_;
  bool read_ = false;
};

}  // namespace hitch::symbolise
