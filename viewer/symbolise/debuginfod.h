// Debug information from a server, through libdebuginfod, which is opened at run time and only when
// the user asked for it.
#pragma once
#include <string>

namespace hitch::symbolise {

class Debuginfod {
 public:
  Debuginfod() = default;
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  // Path of a local copy, or empty. Blocks while it downloads.
  std::string find_debug_file(const std::string& build_id);
  std::string find_executable(const std::string& build_id);

  // Why nothing can be found at all, as one sentence; empty when servers can be asked.
  const std::string& trouble();

 private:
  std::string find(const std::string& build_id, bool executable);
  void open();

  bool opened_ = false;
  void* library_ = nullptr;
  void* client_ = nullptr;
  std::string trouble_;
};

}  // namespace hitch::symbolise
