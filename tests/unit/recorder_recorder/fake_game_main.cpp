// fake_game SOCKET ACTION...: connects (SOCKET "-": $HITCH_SOCKET), then does each action in turn.
//   frames N     N presents 2 ms apart, ten allocations and nine releases between them
//   allocs N     N allocations without a present
//   sleep MS     waits
//   fork MS      a child that connects too, allocates once and lives MS
//   daemon MS    a child in a session of its own that connects and lives MS; it is not waited for
//   exec ...     says hello again as the program the words name (this one)
//   report-signals  prints which of SIGINT SIGQUIT SIGPIPE SIGXFSZ SIGTERM are ignored or blocked
//   exit N | quick-exit N | kill N
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "support/fake_game.h"

namespace {

using hitch::support::FakePool;
using hitch::support::FakeThread;

constexpr int kNotConnected = 99;

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

void wait_ms(std::uint64_t ms) { usleep(static_cast<useconds_t>(ms * 1000)); }

class FakeGame {
 public:
  explicit FakeGame(const char* socket) {
    if (std::strcmp(socket, "-") == 0) socket = std::getenv("HITCH_SOCKET");
    if (socket == nullptr) std::exit(kNotConnected);
    hitch::format::WelcomeStatus status{};
    // A bare recorder may still be starting.
    for (int i = 0; i < 500 && pool_.base == nullptr; ++i) {
      pool_ = hitch::support::connect_fake_game(socket, "fake", status);
      if (status != hitch::format::WelcomeStatus::kFailed) break;
      wait_ms(2);
    }
    if (pool_.base == nullptr) return;
    thread_.emplace(pool_, static_cast<std::uint32_t>(syscall(SYS_gettid)));
  }

  void alloc() {
    if (!thread_) return;
    next_ += 64;
    thread_->alloc(now(), next_, 64, 0x400100, 100);
  }
  void free() {
    if (!thread_) return;
    thread_->free(now(), next_, 0x400200, 50);
  }
  void frame() {
    if (!thread_) return;
    const std::uint64_t exit = now();
    thread_->frame(exit - 10, exit);
  }

 private:
  std::uint64_t now() const { return hitch::base::read_tsc() - pool_.header().tsc_base; }

  FakePool pool_;
  std::optional<FakeThread> thread_;
  std::uint64_t next_ = 0x10000;
};

void report_signals() {
  sigset_t mask;
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (const int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ, SIGTERM, SIGHUP, SIGCHLD}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) std::printf("ignored %d\n", signal);
    if (sigismember(&mask, signal) == 1) std::printf("blocked %d\n", signal);
  }
  std::fflush(stdout);
}

void child_life(const char* socket, std::uint64_t ms) {
  FakeGame game(socket);
  game.alloc();
  wait_ms(ms);
  _exit(0);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  FakeGame game(words[1]);
  for (int i = 2; i < count; ++i) {
    const char* word = words[i];
    const char* value = i + 1 < count ? words[i + 1] : "0";
    if (std::strcmp(word, "report-signals") == 0) {
      report_signals();
      continue;
    }
    ++i;
    if (std::strcmp(word, "frames") == 0) {
      for (std::uint64_t n = number(value); n > 0; --n) {
        for (int a = 0; a < 10; ++a) {
          game.alloc();
          if (a > 0) game.free();
        }
        game.frame();
        wait_ms(2);
      }
    } else if (std::strcmp(word, "allocs") == 0) {
      for (std::uint64_t n = number(value); n > 0; --n) game.alloc();
    } else if (std::strcmp(word, "sleep") == 0) {
      wait_ms(number(value));
    } else if (std::strcmp(word, "fork") == 0) {
      const pid_t child = fork();
      if (child == 0) child_life(words[1], number(value));
      waitpid(child, nullptr, 0);
    } else if (std::strcmp(word, "daemon") == 0) {
      if (fork() == 0) {
        setsid();
        child_life(words[1], number(value));
      }
      wait_ms(100);
    } else if (std::strcmp(word, "exec") == 0) {
      execv(words[i], words + i);
      return 3;
    } else if (std::strcmp(word, "exit") == 0) {
      return static_cast<int>(number(value));
    } else if (std::strcmp(word, "quick-exit") == 0) {
      _exit(static_cast<int>(number(value)));
    } else if (std::strcmp(word, "kill") == 0) {
      // Past a sanitizer's own handler.
      signal(static_cast<int>(number(value)), SIG_DFL);
      kill(getpid(), static_cast<int>(number(value)));
    } else {
      return 2;
    }
  }
  return 0;
}
