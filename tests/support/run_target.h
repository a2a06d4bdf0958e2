// Runs a program the way a user does, in a folder of its own, and collects what it left behind.
#pragma once
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/trace.h"

namespace hitch::support {

enum class Launch : std::uint8_t {
  kPlain,  // without the shim
  kRun,    // hitchtrace run -- PROGRAM
  kBare,   // LD_PRELOAD=libhitchtrace.so PROGRAM
};

enum class Watch : std::uint8_t { kNot, kInFront, kBeneath };

struct RunSpec {
  std::vector<std::string> command;  // a name without a slash is a target program
  Launch launch = Launch::kRun;
  std::vector<std::string> run_flags = {};              // of hitchtrace run
  std::map<std::string, std::string> environment = {};  // added to the test's own
  std::vector<std::string> preload_before = {};         // of the shim in LD_PRELOAD
  std::vector<std::string> preload_beneath = {};        // after it
  bool target = true;        // HITCH_TARGET names the program: its trace is written at once
  bool expect_trace = true;  // kBare waits for one, 10 s at most
  // Let count_calls watch: from in front of the shim (the game's calls; not with kRun) or from
  // beneath it (what reaches the allocator).
  Watch count = Watch::kNot;
  bool one_core = false;  // the program, and with kRun the recorder, share one core
  std::chrono::seconds timeout{60};
  int signal_after_ms = 0;  // send `signal` to the process started, after this time; 0: do not
  int signal = 0;
};

// Calls as count_calls.h tells them apart.
struct CallTotals {
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t reallocs = 0;
  std::uint64_t null_frees = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const CallTotals&, const CallTotals&) = default;
  friend void PrintTo(const CallTotals& totals, std::ostream* out);
};

struct RunResult {
  bool timed_out = false;
  std::optional<int> exit_status;  // when it exited
  std::optional<int> signal;       // when it was killed
  std::string out;
  std::string err;
  std::string folder;               // its current directory; gone with the RunResult
  std::vector<std::string> traces;  // *.hitch in it, oldest name first
  std::optional<CallTotals> counted;

  // All that matters about the end, for messages of assertions.
  std::string describe() const;
  // A number of the one line of JSON on stdout; none when it is not there.
  std::optional<std::int64_t> said(const std::string& key) const;

  RunResult() = default;
  RunResult(RunResult&&) noexcept = default;
  RunResult& operator=(RunResult&&) noexcept = default;
  ~RunResult();
};

// Returns when the program has ended and every recorder has closed its trace, or at the timeout.
RunResult run_target(const RunSpec& spec);

// Path of the command hitchtrace.
std::string command_path();

// Path of a target program or library of tests/targets.
std::string target_path(const std::string& name);

}  // namespace hitch::support
