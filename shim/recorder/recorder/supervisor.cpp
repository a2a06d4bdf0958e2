#include "recorder/recorder/supervisor.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace hitch::recorder {

namespace {

constexpr int kBusyMs = 1;
constexpr int kQuietMs = 2;
constexpr int kNoSessionMs = 100;
constexpr std::uint64_t kPatienceMs = 10'000;

int open_pidfd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// exit_code of a zombie that is not ours to wait for: the last field of /proc/<pid>/stat, zero when
// we may not see it.
std::optional<int> zombie_status(pid_t pid) {
  const std::string stat = resolve::read_small_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || stat.compare(name_end + 1, 3, " Z ") != 0) return {};
  const std::size_t last = stat.find_last_of(' ');
  return std::atoi(stat.c_str() + last + 1);
}

}  // namespace

Supervisor::Supervisor(Surroundings& surroundings, Listener& listener,
                       const InheritedSignals& signals)
    : surroundings_(surroundings), listener_(listener), signals_(signals) {}

void Supervisor::prepare_memory() { spare_ = take_memory(); }

std::unique_ptr<drain::SharedPool> Supervisor::take_memory() {
  if (spare_) return std::move(spare_);
  drain::PoolError error;
  auto pool = drain::SharedPool::create(surroundings_.options.buffer_mib << 20, error);
  if (!pool && !memory_refused_) surroundings_.status.note(error.what);
  memory_refused_ = !pool;
  return pool;
}

void Supervisor::run_game(pid_t game) {
  game_ = game;
  first_game_ = game;
  loop();
  while (!sessions_.empty()) end_session(0, EndReason::kStopped, 0);
  if (!game_status_) return;
  if (WIFSIGNALED(*game_status_)) {
    surroundings_.status.say("signal", std::to_string(WTERMSIG(*game_status_)));
  } else {
    surroundings_.status.say("exit", std::to_string(WEXITSTATUS(*game_status_)));
  }
}

void Supervisor::run_bare() {
  loop();
  while (!sessions_.empty()) end_session(0, EndReason::kStopped, 0);
}

void Supervisor::loop() {
  const std::uint64_t begin = monotonic_ms();
  bool busy = false;
  while (!stop_) {
    const bool nothing_left = sessions_.empty() && game_ < 0;
    if (nothing_left &&
        (first_game_ >= 0 || had_session_ || monotonic_ms() > begin + kPatienceMs)) {
      // A last look: a process that connected just before its parent ended.
      if (wait(0) || !sessions_.empty()) continue;
      if (!game_daemonised()) return;
      wait(kNoSessionMs);
      continue;
    }
    const int quiet = sessions_.empty() ? kNoSessionMs : kQuietMs;
    wait(busy ? kBusyMs : quiet);
    busy = tick_sessions();
  }
}

bool Supervisor::game_daemonised() const {
  if (game_exe_.empty()) return false;
  const std::string own = std::to_string(getpid());
  std::istringstream children(resolve::read_small_file("/proc/self/task/" + own + "/children"));
  for (pid_t child = 0; children >> child;) {
    if (resolve::ProcessFiles(child).executable() == game_exe_) return true;
  }
  return false;
}

// True when a hello was taken.
bool Supervisor::wait(int timeout_ms) {
  std::vector<pollfd> watched;
  for (const int fd : listener_.descriptors()) watched.push_back({fd, POLLIN, 0});
  const std::size_t listening = watched.size();
  watched.push_back({signals_.descriptor(), POLLIN, 0});
  for (const auto& session : sessions_) watched.push_back({session->pidfd(), POLLIN, 0});
  if (poll(watched.data(), watched.size(), timeout_ms) <= 0) return false;
  if (watched[listening].revents != 0) read_signals();
  bool greeted = false;
  for (std::size_t i = 0; i < listening; ++i) {
    if (watched[i].revents == 0) continue;
    for (const Caller& caller : listener_.accept()) {
      greet(caller);
      greeted = true;
    }
    break;
  }
  end_dead_sessions();
  return greeted;
}

bool Supervisor::tick_sessions() {
  const std::uint64_t now = monotonic_ms();
  bool busy = false;
  for (const auto& session : sessions_) busy = session->tick(now) || busy;
  return busy;
}

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (read(signals_.descriptor(), &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo == SIGCHLD) {
      reap_children();
    } else if (info.ssi_signo == SIGUSR1) {
      for (const auto& session : sessions_) session->toggle_recording();
    } else if (game_ >= 0) {
      kill(game_, static_cast<int>(info.ssi_signo));
    } else {
      stop_ = true;
    }
  }
}

void Supervisor::reap_children() {
  int status = 0;
  for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
    if (child == game_) {
      game_ = -1;
      game_status_ = status;
    }
    for (const auto& session : sessions_) {
      if (session->pid() == child) wait_statuses_[child] = status;
    }
  }
}

void Supervisor::end_dead_sessions() {
  for (std::size_t i = 0; i < sessions_.size();) {
    pollfd life{sessions_[i]->pidfd(), POLLIN, 0};
    if (poll(&life, 1, 0) == 0) {
      ++i;
      continue;
    }
    const pid_t pid = sessions_[i]->pid();
    std::optional<int> status = zombie_status(pid);
    reap_children();
    const auto waited = wait_statuses_.find(pid);
    if (waited != wait_statuses_.end()) {
      status = waited->second;
      wait_statuses_.erase(waited);
    }
    end_by_wait_status(i, status);
  }
}

void Supervisor::end_by_wait_status(std::size_t index, std::optional<int> status) {
  if (!status) {
    end_session(index, EndReason::kLost, 0);
  } else if (WIFSIGNALED(*status)) {
    end_session(index, EndReason::kSignal, static_cast<std::uint64_t>(WTERMSIG(*status)));
  } else {
    end_session(index, EndReason::kExit, static_cast<std::uint64_t>(WEXITSTATUS(*status)));
  }
}

void Supervisor::end_session(std::size_t index, EndReason reason, std::uint64_t status) {
  sessions_[index]->end(reason, status);
  sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Supervisor::greet(const Caller& caller) {
  const resolve::ProcessFiles files(caller.pid);
  std::string exe = files.executable();
  if (exe.empty()) exe = caller.hello.exe;
  const std::string who = std::to_string(caller.pid) + " " + exe;
  const char* target = surroundings_.options.target.text;
  const std::size_t slash = exe.rfind('/');
  const std::string base = slash == std::string::npos ? exe : exe.substr(slash + 1);
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    if (sessions_[i]->pid() == caller.pid) {
      end_session(i, EndReason::kExec, 0);
      break;
    }
  }
  if (target[0] != '\0' && fnmatch(target, base.c_str(), 0) != 0) {
    answer(caller.connection, format::WelcomeStatus::kIgnore, -1, 0);
    surroundings_.status.say("ignored", who);
    return;
  }
  const int pidfd = open_pidfd(caller.pid);
  std::unique_ptr<drain::SharedPool> pool = pidfd >= 0 ? take_memory() : nullptr;
  if (!pool) {
    if (pidfd >= 0) close(pidfd);
    answer(caller.connection, format::WelcomeStatus::kFailed, -1, 0);
    return;
  }
  auto session = std::make_unique<Session>(
      surroundings_, GameProcess{caller.pid, caller.hello.pid, exe, caller.pid == first_game_},
      std::move(pool), pidfd);
  drain::SharedPool& shared = session->pool();
  const bool sent = answer(caller.connection, format::WelcomeStatus::kRecord, shared.descriptor(),
                           shared.geometry().total_bytes);
  shared.close_descriptor();
  if (!sent) return;
  had_session_ = true;
  if (caller.pid == first_game_) game_exe_ = exe;
  sessions_.push_back(std::move(session));
  surroundings_.status.say("connected", who);
}

}  // namespace hitch::recorder
