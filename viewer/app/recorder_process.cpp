#include "viewer/app/recorder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace hitch::app {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

// Signals are read, not delivered, while this lives; the mask before it is what the game gets.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int one : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD})
      sigaddset(&held, one);
    sigprocmask(SIG_BLOCK, &held, &before_);
    descriptor_.reset(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~HeldSignals() {
    // A Ctrl-C meant for the game must not end this process when the mask opens.
    sigset_t held;
    sigemptyset(&held);
    for (const int one : {SIGINT, SIGQUIT}) sigaddset(&held, one);
    const timespec now{};
    while (sigtimedwait(&held, nullptr, &now) > 0) {
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  int descriptor() const { return descriptor_.get(); }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

class Supervisor {
 public:
  explicit Supervisor(const RecorderCommand& command) : command_(command) {}

  RecorderRun run() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!start()) return std::move(run_);
    while (!finished()) {
      std::array<pollfd, 2> ready = {pollfd{signals_.descriptor(), POLLIN, 0},
                                     pollfd{status_.get(), POLLIN, 0}};
      if (poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) break;
      if (ready[1].revents != 0) read_status();
      if (ready[0].revents != 0) read_signals();
      reap();
      announce_death();
    }
    run_.status = parser_.status();
    return std::move(run_);
  }

 private:
  bool start() {
    std::array<int, 2> status_pipe{};
    std::array<int, 2> error_pipe{};
    if (pipe2(status_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0 ||
        pipe2(error_pipe.data(), O_CLOEXEC) != 0) {
      run_.start_error = std::string("no pipe to the recorder: ") + std::strerror(errno) + ".";
      return false;
    }
    status_.reset(status_pipe[0]);
    const Descriptor status_out(status_pipe[1]);
    const Descriptor error_in(error_pipe[0]);
    Descriptor error_out(error_pipe[1]);

    std::vector<std::string> words = {command_.recorder, "run", "--status-fd",
                                      std::to_string(status_out.get()), "--"};
    words.insert(words.end(), command_.game.begin(), command_.game.end());
    const std::vector<char*> arguments = pointers(words);
    const std::vector<char*> environment = pointers(command_.environment);
    recorder_ = fork();
    if (recorder_ == 0) {
      fcntl(status_out.get(), F_SETFD, 0);
      fcntl(status_out.get(), F_SETFL, 0);
      sigprocmask(SIG_SETMASK, &signals_.before(), nullptr);
      execve(arguments[0], arguments.data(), environment.data());
      const int error = errno;
      // The reader takes the missing four bytes for success: nothing can be done here.
      [[maybe_unused]] const ssize_t written = write(error_out.get(), &error, sizeof error);
      _exit(kExecFailed);
    }
    if (recorder_ < 0) {
      run_.start_error =
          std::string("the recorder cannot be started: ") + std::strerror(errno) + ".";
      return false;
    }
    error_out.reset();
    int error = 0;
    if (read(error_in.get(), &error, sizeof error) == sizeof error) {
      waitpid(recorder_, nullptr, 0);
      run_.start_error = command_.recorder + " cannot be started: " + std::strerror(error) + ".";
      return false;
    }
    return true;
  }

  bool finished() const {
    return recorder_ended_ && (parser_.status().game_ended() || no_children_);
  }

  void read_status() {
    std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t size = read(status_.get(), buffer.data(), buffer.size());
      if (size > 0) {
        parser_.feed({buffer.data(), static_cast<std::size_t>(size)});
        continue;
      }
      if (size == 0) status_.reset();
      if (size == 0 || errno != EINTR) return;
    }
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (read(signals_.descriptor(), &info, sizeof info) == sizeof info) {
      const int number = static_cast<int>(info.ssi_signo);
      // The terminal's own signals reach the whole process group.
      const bool sent_by_process =
          info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL;
      if (number != SIGCHLD && sent_by_process) forward(number);
    }
  }

  void forward(int number) const {
    const bool to_recorder =
        (number == SIGTERM || number == SIGHUP || number == SIGUSR1) && !recorder_ended_;
    if (to_recorder) {
      kill(recorder_, number);
      return;
    }
    for (const GameProcess& process : parser_.status().connected)
      if (kill(process.pid, number) == 0) return;
  }

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t child = waitpid(-1, &status, WNOHANG);
      if (child < 0 && errno == EINTR) continue;
      no_children_ = child < 0;
      if (child <= 0) return;
      if (child == recorder_) {
        recorder_has_ended(status);
      } else if (recorder_ended_) {
        adopted_has_ended(child, status);
      }
    }
  }

  void recorder_has_ended(int status) {
    recorder_ended_ = true;
    run_.recorder_wait_status = status;
    if (status_.get() >= 0) read_status();
    if (parser_.status().game_ended()) return;
    run_.recorder_died = true;
  }

  // The game may have ended with its recorder; then there is nothing to announce.
  void announce_death() {
    if (!run_.recorder_died || announced_ || no_children_) return;
    announced_ = true;
    if (command_.on_recorder_death) command_.on_recorder_death();
  }

  // The first process that connected is the game; before any has, the first to end.
  void adopted_has_ended(pid_t child, int status) {
    const auto& connected = parser_.status().connected;
    const bool is_game = !connected.empty() && connected.front().pid == child;
    if (is_game || run_.adopted_wait_status == -1) run_.adopted_wait_status = status;
  }

  static constexpr int kExecFailed = 125;

  const RecorderCommand& command_;
  HeldSignals signals_;
  Descriptor status_;
  StatusParser parser_;
  pid_t recorder_ = -1;
  bool recorder_ended_ = false;
  bool no_children_ = false;
  bool announced_ = false;
  RecorderRun run_;
};

}  // namespace

RecorderRun run_recorder(const RecorderCommand& command) { return Supervisor(command).run(); }

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace hitch::app
