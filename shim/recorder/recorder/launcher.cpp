#include "recorder/recorder/launcher.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hitch::recorder {

InheritedSignals::InheritedSignals() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (std::size_t i = 0; i < std::size(kIgnored); ++i) {
    sigaction(kIgnored[i], &ignore, &actions_[i]);
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&blocked, signal);
  sigprocmask(SIG_BLOCK, &blocked, &mask_);
  descriptor_ = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
}

void InheritedSignals::restore() const {
  for (std::size_t i = 0; i < std::size(kIgnored); ++i) {
    sigaction(kIgnored[i], &actions_[i], nullptr);
  }
  sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

// The kernel puts the variables behind the arguments and before the name of the file (execve(2),
// fs/exec.c); libc moves its pointers to them, never the text. /proc/self/environ may not be read
// by such a process.
void restore_environment(char* const* arguments) {
  auto* const end = reinterpret_cast<char*>(getauxval(AT_EXECFN));
  if (getauxval(AT_SECURE) == 0 || end == nullptr || arguments[0] == nullptr) return;
  const char* last = arguments[0];
  for (std::size_t i = 0; arguments[i] != nullptr; ++i) last = arguments[i];
  static std::vector<char*> variables;
  for (char* at = const_cast<char*>(last) + std::strlen(last) + 1; at < end;
       at += std::strlen(at) + 1) {
    if (*at != '\0') variables.push_back(at);
  }
  variables.push_back(nullptr);
  environ = variables.data();
}

Launched launch(char* const* arguments, const std::string& socket_name,
                const InheritedSignals& signals) {
  Launched launched;
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) {
    launched.error = errno;
    return launched;
  }
  setenv("HITCH_SOCKET", socket_name.c_str(), 1);
  launched.pid = fork();
  if (launched.pid == 0) {
    signals.restore();
    execvp(arguments[0], arguments);
    const int error = errno;
    const ssize_t written = write(error_pipe[1], &error, sizeof(error));
    _exit(written == sizeof(error) ? 127 : 126);
  }
  if (launched.pid < 0) launched.error = errno;
  close(error_pipe[1]);
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(error_pipe[0], &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  close(error_pipe[0]);
  if (got == sizeof(error)) {
    waitpid(launched.pid, nullptr, 0);
    launched.error = error;
    launched.pid = -1;
  }
  return launched;
}

}  // namespace hitch::recorder
