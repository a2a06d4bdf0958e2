#include "viewer/app/run_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "config/options.h"
#include "viewer/app/diagnosis.h"
#include "viewer/app/find_program.h"
#include "viewer/app/install_paths.h"
#include "viewer/app/recorder_process.h"
#include "viewer/app/recover_command.h"
#include "viewer/app/report_command.h"
#include "viewer/app/shell_word.h"
#include "viewer/app/trace_contents.h"

namespace hitch::app {
namespace {

namespace fs = std::filesystem;

// A launcher may leave many recordings; the rest is listed by name.
constexpr std::size_t kMaxSummaries = 3;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class Run {
 public:
  Run(const RunOptions& options, std::ostream& errors) : options_(options), errors_(errors) {}

  int operator()() {
    const std::string path = std::getenv("PATH") == nullptr ? "/bin:/usr/bin" : variable("PATH");
    chain_ = find_program(options_.command.front(), path, getuid(), getgid());
    diagnosis_ = diagnose(chain_, options_.command);
    if (diagnosis_.refuse_status != 0) {
      say(diagnosis_.refusal);
      return diagnosis_.refuse_status;
    }
    warn_of_variables();
    for (const std::string& warning : diagnosis_.warnings) say("warning: " + warning);
    if (!diagnosis_.cannot_record.empty())
      say("warning: nothing will be recorded: " + diagnosis_.cannot_record);
    if (!diagnosis_.keep_out.empty()) {
      say(options_.attach_anyway ? "warning: " + diagnosis_.keep_out + "."
                                 : "warning: started without the library: " + diagnosis_.keep_out +
                                       " (--attach-anyway loads it all the same).");
      if (!options_.attach_anyway) return start_unrecorded();
    }
    return check_places() ? record() : kExitOwnFailure;
  }

 private:
  void say(const std::string& sentence) { errors_ << "hitchtrace: " << sentence << '\n'; }

  void warn_of_variables() {
    for (std::size_t i = 0; i < config::kOptionCount; ++i) {
      const config::OptionRow& row = config::kOptionRows[i];
      const char* value = std::getenv(row.env);
      if (value == nullptr) continue;
      const std::string wrong = check_value(row.flag, value);
      if (!wrong.empty()) say(std::string("warning: ") + row.env + " is ignored: " + wrong);
    }
  }

  // This process becomes the game, so that nothing of ours is left in the way.
  int start_unrecorded() {
    std::vector<char*> arguments;
    for (const std::string& word : options_.command)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    errors_.flush();
    execvp(arguments[0], arguments.data());
    const int error = errno;
    say(options_.command.front() + ": " + std::strerror(error) + ".");
    return error == ENOENT ? kExitNotFound : kExitNotExecutable;
  }

  bool check_places() {
    const std::string folder = own_folder();
    const Found library = find_library(folder, variable("HITCH_LIBRARY"));
    const Found recorder = find_recorder(folder, variable("HITCH_RECORDER"));
    if (library.path.empty()) return report_missing("libhitchtrace.so", "HITCH_LIBRARY", library);
    if (recorder.path.empty())
      return report_missing("hitchtrace-record", "HITCH_RECORDER", recorder);
    if (library.path.find_first_of(" :") != std::string::npos) {
      say(library.path +
          " has a space or a colon in its path, which LD_PRELOAD cannot name: "
          "move the installation, or set HITCH_LIBRARY to a link to it.");
      return false;
    }
    library_ = library.path;
    recorder_ = recorder.path;
    for (const auto& [name, value] : options_.settings) {
      if (name == "HITCH_DIR" && !check_folder("--dir", value)) return false;
      if (name == "HITCH_OUTPUT" &&
          !check_folder("--output", fs::path(value).parent_path().string()))
        return false;
    }
    return true;
  }

  bool report_missing(const std::string& what, const std::string& name, const Found& found) {
    say(what + " is not at " + found.tried.front() +
        (found.tried.size() > 1 ? " nor in the other places of an installation: install hitchtrace "
                                  "again, or set " +
                                      name + "."
                                : " (" + name + ")."));
    return false;
  }

  bool check_folder(const std::string& flag, const std::string& folder) {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return true;
    say(flag + ": the folder " + folder + " does not exist.");
    return false;
  }

  int record() {
    RecorderCommand command;
    command.recorder = recorder_;
    command.game = options_.command;
    command.environment = game_environment(environ, options_.settings, library_);
    command.on_recorder_death = [this] {
      say("the recorder has died; the game goes on unrecorded, waiting for it.");
      errors_.flush();
    };
    errors_.flush();
    const RecorderRun run = run_recorder(command);
    if (!run.start_error.empty()) {
      say(run.start_error);
      return kExitOwnFailure;
    }
    for (const std::string& note : run.status.notes) say(note);
    if (run.recorder_died) repair(run.status.traces);
    const int status = exit_status(run);
    const bool started =
        !run.status.exec_error && (status_is_of_game_ || !run.status.traces.empty());
    if (started) show(run);
    return status;
  }

  int exit_status(const RecorderRun& run) {
    if (run.status.exec_error) {
      const int error = *run.status.exec_error;
      say(options_.command.front() + ": " + std::strerror(error) + ".");
      return error == ENOENT ? kExitNotFound : kExitNotExecutable;
    }
    if (run.status.exit_code) return *run.status.exit_code;
    if (run.status.killed_by) return 128 + *run.status.killed_by;
    if (run.adopted_wait_status != -1) return shell_status(run.adopted_wait_status);
    status_is_of_game_ = false;
    const int status = run.recorder_wait_status;
    say(WIFSIGNALED(status)
            ? "the recorder was killed by signal " + std::to_string(WTERMSIG(status)) + "."
            : "the recorder failed (exit status " + std::to_string(WEXITSTATUS(status)) + ").");
    return kExitOwnFailure;
  }

  void repair(const std::vector<std::string>& traces) {
    for (const std::string& trace : traces) recover_command({trace, ""}, errors_, errors_);
  }

  void show(const RecorderRun& run) {
    const std::vector<std::string>& traces = run.status.traces;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      if (i < kMaxSummaries) {
        ReportOptions report;
        report.trace = traces[i];
        report.summary = true;
        errors_ << '\n';
        report_command(report, errors_, errors_);
      }
      explain_contents(traces[i]);
      errors_ << "trace: " << traces[i] << '\n'
              << "next:  hitchtrace report " << shell_word(traces[i]) << '\n';
    }
    if (!traces.empty()) return;
    if (run.recorder_died) {
      say("nothing was recorded: the recorder died before it had begun a trace.");
    } else if (run.status.connected.empty()) {
      say("nothing was recorded: " + why_not_loaded(run));
    } else {
      say("nothing was recorded: " + run.status.connected.front().exe +
          " ended before there was anything to write (no present, and less than two seconds).");
    }
  }

  std::string why_not_loaded(const RecorderRun& run) {
    if (run.status.ignored.empty()) return why_never_loaded(diagnosis_, chain_, options_.command);
    return "only programs that are not recorded loaded the library (" +
           run.status.ignored.front().exe + "); name the one you mean with --target.";
  }

  void explain_contents(const std::string& trace) {
    const std::optional<TraceContents> contents = read_contents(trace);
    if (!contents || contents->calls > 0) return;
    const std::string allocator = diagnosis_.own_allocator;
    const std::string name =
        contents->executable.empty() ? chain_.back().path : contents->executable;
    if (allocator.empty()) {
      const ProgramFacts facts = inspect_program(name, getuid(), getgid());
      say(name + " never allocated through the library" +
          (facts.allocator.empty()
               ? ": its memory comes from an allocator inside the executable, "
                 "or from mmap alone (" +
                     std::to_string(contents->map_calls) + " calls)."
               : ": allocator inside the executable: " + facts.allocator + "."));
    } else {
      say(name + " never allocated through the library: allocator inside the executable: " +
          allocator + ".");
    }
  }

  const RunOptions& options_;
  std::ostream& errors_;
  std::vector<ProgramFacts> chain_;
  Diagnosis diagnosis_;
  std::string library_;
  std::string recorder_;
  bool status_is_of_game_ = true;
};

}  // namespace

int run_command(const RunOptions& options, std::ostream& errors) { return Run(options, errors)(); }

}  // namespace hitch::app
