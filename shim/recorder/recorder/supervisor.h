// Owns the sessions: takes hellos, drains, notices deaths, and knows when there is nothing left to
// do.
#pragma once
#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/recorder/launcher.h"
#include "recorder/recorder/listener.h"
#include "recorder/recorder/session.h"

namespace hitch::recorder {

class Supervisor {
 public:
  Supervisor(Surroundings& surroundings, Listener& listener, const InheritedSignals& signals);

  // The memory for the first process, so that its welcome is immediate.
  void prepare_memory();
  // Until the game has ended, and every process that connected.
  void run_game(pid_t game);
  // Until every process that connected has ended; gives up when none does in ten seconds.
  void run_bare();

 private:
  void loop();
  bool wait(int timeout_ms);
  bool tick_sessions();
  void read_signals();
  void reap_children();
  void greet(const Caller& caller);
  void end_dead_sessions();
  void end_session(std::size_t index, EndReason reason, std::uint64_t status);
  void end_by_wait_status(std::size_t index, std::optional<int> status);
  std::unique_ptr<drain::SharedPool> take_memory();
  // The game's program goes on in a child that was left to us: it has put itself in the background.
  bool game_daemonised() const;

  Surroundings& surroundings_;
  Listener& listener_;
  const InheritedSignals& signals_;
  std::unique_ptr<drain::SharedPool> spare_;
  std::vector<std::unique_ptr<Session>> sessions_;
  std::unordered_map<pid_t, int> wait_statuses_;  // of children, until their session takes it
  pid_t game_ = -1;                               // started by us and not reaped yet
  pid_t first_game_ = -1;
  std::optional<int> game_status_;
  std::string game_exe_;  // of the process started by us, when it connected
  bool had_session_ = false;
  bool memory_refused_ = false;  // and said so
  bool stop_ = false;
};

}  // namespace hitch::recorder
