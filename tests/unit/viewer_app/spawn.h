// Runs the command in a process of its own and collects what it says.
#pragma once
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace hitch::app {

struct Said {
  int status = -1;  // exit status, or 128 + N after a signal
  std::string out;
  std::string errors;
};

class Spawned {
 public:
  // `environment` is added to the test's own.
  Spawned(const std::vector<std::string>& words,
          const std::map<std::string, std::string>& environment);
  ~Spawned();
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  pid_t pid() const { return pid_; }
  // Blocks until standard output contains `text` or ends.
  void wait_for_output(const std::string& text);
  Said finish();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int errors_ = -1;
  Said said_;
};

}  // namespace hitch::app
