// Starts the game with the signal state and environment the recorder itself was given.
#pragma once
#include <signal.h>
#include <sys/types.h>

#include <string>

namespace hitch::recorder {

// What the recorder changes for itself and the game must not inherit.
class InheritedSignals {
 public:
  // Remembers, then: SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ are ignored; SIGTERM, SIGHUP, SIGUSR1,
  // SIGCHLD are blocked and read through descriptor().
  InheritedSignals();
  int descriptor() const { return descriptor_; }
  // In a forked child, before exec. Async-signal-safe.
  void restore() const;

 private:
  static constexpr int kIgnored[] = {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ};
  struct sigaction actions_[4];
  sigset_t mask_;
  int descriptor_;
};

// With capabilities of its own (setcap) the recorder starts in libc's secure mode, which takes
// LD_PRELOAD, LD_LIBRARY_PATH and their like out of the environment. They are meant for the game,
// which gets no capability: puts them back. `arguments` are main's. Call it first.
void restore_environment(char* const* arguments);

struct Launched {
  pid_t pid = -1;
  int error = 0;  // errno of fork or exec
};

Launched launch(char* const* arguments, const std::string& socket_name,
                const InheritedSignals& signals);

}  // namespace hitch::recorder
