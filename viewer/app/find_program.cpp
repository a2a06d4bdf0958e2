#include "viewer/app/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

namespace hitch::app {
namespace {

// The kernel follows five scripts at most.
constexpr int kMaxScripts = 5;

bool is_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// The program an `env` line starts: the first word that is neither an option nor an assignment.
std::string program_of_env(const std::string& arguments) {
  std::istringstream words(arguments);
  for (std::string word; words >> word;)
    if (word[0] != '-' && word.find('=') == std::string::npos) return word;
  return {};
}

}  // namespace

std::string find_in_path(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return name;
  std::string merely_there;
  std::istringstream folders(search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string path = (folder.empty() ? "." : folder) + '/' + name;
    if (!is_file(path)) continue;
    if (access(path.c_str(), X_OK) == 0) return path;
    if (merely_there.empty()) merely_there = path;
  }
  return merely_there;
}

std::vector<ProgramFacts> find_program(const std::string& name, const std::string& search_path,
                                       uid_t user, gid_t group) {
  std::vector<ProgramFacts> chain;
  std::string next = name;
  for (int scripts = 0; scripts <= kMaxScripts; ++scripts) {
    const std::string path = find_in_path(next, search_path);
    chain.push_back(inspect_program(path, user, group));
    if (path.empty()) chain.back().path = next;
    const ProgramFacts& last = chain.back();
    if (last.kind != ProgramKind::kScript || last.interpreter.empty()) break;
    next = last.interpreter;
    if (next.ends_with("/env")) {
      const std::string started = program_of_env(last.interpreter_argument);
      if (!started.empty() && is_file(next)) next = started;
    }
  }
  return chain;
}

}  // namespace hitch::app
