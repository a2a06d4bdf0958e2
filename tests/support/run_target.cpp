#include "support/run_target.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <thread>

#include "format/file_layout.h"
#include "targets/count_calls.h"

extern char** environ;

namespace hitch::support {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string joined(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += (text.empty() ? "" : ":") + path;
  return text;
}

std::string make_folder() {
  std::string name = (fs::temp_directory_path() / "hitch-e2e-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), name);
  return name;
}

std::vector<std::string> list_traces(const std::string& folder) {
  std::vector<std::string> traces;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".hitch") traces.push_back(entry.path().string());
  }
  // "game-TIME.hitch" before "game-TIME-2.hitch" before those of a later time
  std::sort(traces.begin(), traces.end(), [](const std::string& a, const std::string& b) {
    return fs::path(a).stem() < fs::path(b).stem();
  });
  return traces;
}

// A recorder holds a lock on the trace it writes and ends the file with a trailer.
bool is_closed(const std::string& trace) {
  const int file = open(trace.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  format::FileTrailer trailer{};
  const off_t end = lseek(file, 0, SEEK_END);
  const bool whole =
      end >= static_cast<off_t>(sizeof trailer) &&
      pread(file, &trailer, sizeof trailer, end - static_cast<off_t>(sizeof trailer)) ==
          static_cast<ssize_t>(sizeof trailer) &&
      std::memcmp(trailer.magic, format::kTrailerMagic, sizeof trailer.magic) == 0;
  const bool unlocked = flock(file, LOCK_SH | LOCK_NB) == 0;
  close(file);
  return whole && unlocked;
}

struct Command {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

Command make_command(const RunSpec& spec, const std::string& folder) {
  Command command;
  std::vector<std::string> program = spec.command;
  if (program[0].find('/') == std::string::npos && fs::exists(target_path(program[0])))
    program[0] = target_path(program[0]);

  std::vector<std::string> before = spec.preload_before;
  std::vector<std::string> beneath = spec.preload_beneath;
  std::map<std::string, std::string>& environment = command.environment;
  const std::string name = fs::path(program[0]).filename().string();
  if (spec.count != Watch::kNot) {
    std::vector<std::string>& where = spec.count == Watch::kBeneath ? beneath : before;
    where.push_back(target_path("libcount_calls.so"));
    environment["COUNT_FILE"] = folder + "/count";
    environment["COUNT_PROGRAM"] = name;
  }
  if (spec.launch != Launch::kPlain) {
    environment["HITCH_DIR"] = folder;
    environment["HITCH_RECORDER"] = HITCH_RECORDER_PATH;
    if (spec.target) environment["HITCH_TARGET"] = name;
  }
  if (spec.launch == Launch::kRun) {
    command.arguments = {HITCH_COMMAND_PATH, "run"};
    command.arguments.insert(command.arguments.end(), spec.run_flags.begin(), spec.run_flags.end());
    command.arguments.push_back("--");
    // The command puts the shim in front of what is preloaded already.
    std::vector<std::string> others = before;
    others.insert(others.end(), beneath.begin(), beneath.end());
    if (!others.empty()) environment["LD_PRELOAD"] = joined(others);
  } else {
    std::vector<std::string> preloaded = before;
    if (spec.launch == Launch::kBare) preloaded.push_back(HITCH_SHIM_PATH);
    preloaded.insert(preloaded.end(), beneath.begin(), beneath.end());
    if (!preloaded.empty()) environment["LD_PRELOAD"] = joined(preloaded);
  }
  command.arguments.insert(command.arguments.end(), program.begin(), program.end());
  for (const auto& [key, value] : spec.environment) environment[key] = value;
  return command;
}

// Between fork and exec of a test that may have threads: system calls only.
[[noreturn]] void become(const std::string& folder, char* const* arguments, char* const* variables,
                         int out, int err, bool one_core) {
  setpgid(0, 0);
  if (one_core) {
    cpu_set_t cores;
    sched_getaffinity(0, sizeof cores, &cores);
    int first = 0;
    while (!CPU_ISSET(first, &cores)) ++first;
    CPU_ZERO(&cores);
    CPU_SET(first, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
  }
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  dup2(out, 1);
  dup2(err, 2);
  syscall(SYS_close_range, 3, ~0U, 0);
  if (chdir(folder.c_str()) == 0) execvpe(arguments[0], arguments, variables);
  _exit(127);
}

pid_t start(const Command& command, const std::string& folder, bool one_core) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("HITCH_")) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const auto& [key, value] : command.environment) variables[key] = value;

  std::vector<std::string> lines;
  for (const auto& [key, value] : variables) lines.push_back(key + "=" + value);
  std::vector<char*> environment_pointers;
  for (std::string& line : lines) environment_pointers.push_back(line.data());
  environment_pointers.push_back(nullptr);
  std::vector<std::string> arguments = command.arguments;
  std::vector<char*> argument_pointers;
  for (std::string& argument : arguments) argument_pointers.push_back(argument.data());
  argument_pointers.push_back(nullptr);

  const int out = open((folder + "/stdout").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int err = open((folder + "/stderr").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const pid_t child = fork();
  if (child == 0)
    become(folder, argument_pointers.data(), environment_pointers.data(), out, err, one_core);
  close(out);
  close(err);
  return child;
}

// False when `fd`, a pidfd, did not become readable in time.
bool wait_for(int fd, Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    pollfd poll_fd = {fd, POLLIN, 0};
    const int ready = poll(&poll_fd, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready > 0) return true;
    if (ready == 0) return false;
  }
}

std::optional<CallTotals> read_count(const std::string& path) {
  const std::string bytes = read_file(path);
  std::uint64_t values[kCounters] = {};
  if (bytes.size() != sizeof values) return std::nullopt;
  std::memcpy(values, bytes.data(), sizeof values);
  return CallTotals{values[kAllocs], values[kFrees], values[kReallocs], values[kNullFrees],
                    values[kBytes]};
}

}  // namespace

std::string command_path() { return HITCH_COMMAND_PATH; }

std::string target_path(const std::string& name) {
  return std::string(HITCH_TARGETS_DIR) + "/" + name;
}

RunResult run_target(const RunSpec& spec) {
  RunResult result;
  result.folder = make_folder();
  const Command command = make_command(spec, result.folder);
  const Clock::time_point until = Clock::now() + spec.timeout;
  const pid_t child = start(command, result.folder, spec.one_core);
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));

  if (spec.signal_after_ms > 0 &&
      !wait_for(pidfd, Clock::now() + std::chrono::milliseconds(spec.signal_after_ms)))
    kill(child, spec.signal);
  result.timed_out = !wait_for(pidfd, until);
  if (result.timed_out) kill(-child, SIGKILL);
  close(pidfd);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);

  // A bare recorder outlives the game by a moment.
  const auto closed_by = Clock::now() + std::chrono::seconds(10);
  do {
    result.traces = list_traces(result.folder);
    if (!result.traces.empty() &&
        std::all_of(result.traces.begin(), result.traces.end(), is_closed))
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (spec.launch == Launch::kBare && spec.expect_trace && Clock::now() < closed_by);

  result.out = read_file(result.folder + "/stdout");
  result.err = read_file(result.folder + "/stderr");
  result.counted = read_count(result.folder + "/count");
  return result;
}

std::string RunResult::describe() const {
  std::string text = timed_out ? "timed out" : "";
  if (exit_status) text += "exit status " + std::to_string(*exit_status);
  if (signal) text += "signal " + std::to_string(*signal);
  text += ", " + std::to_string(traces.size()) + " traces\nstdout: " + out + "\nstderr: " + err;
  return text;
}

std::optional<std::int64_t> RunResult::said(const std::string& key) const {
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains(key)) continue;
    const auto& value = json[key];
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    if (value.is_number_integer()) return value.get<std::int64_t>();
  }
  return std::nullopt;
}

RunResult::~RunResult() {
  std::error_code ignored;
  if (!folder.empty()) fs::remove_all(folder, ignored);
}

}  // namespace hitch::support
