#include "viewer/app/diagnosis.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace hitch::app {
namespace {

namespace fs = std::filesystem;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

void refuse(Diagnosis& out, int status, std::string sentence) {
  out.refuse_status = status;
  out.refusal = std::move(sentence);
}

void check_start(const ProgramFacts& named, const std::string& typed, Diagnosis& out) {
  switch (named.kind) {
    case ProgramKind::kMissing:
      refuse(out, kExitNotFound,
             typed.find('/') == std::string::npos ? typed + " is not found in PATH."
                                                  : typed + ": no such file.");
      break;
    case ProgramKind::kNotAFile:
      refuse(out, kExitNotExecutable, named.path + " is not a file that can be run.");
      break;
    case ProgramKind::kNotExecutable:
      refuse(out, kExitNotExecutable,
             named.path + " is not executable (chmod +x " + named.path + ").");
      break;
    default:
      break;
  }
}

void check_interpreters(const std::vector<ProgramFacts>& chain, Diagnosis& out) {
  for (std::size_t i = 1; i < chain.size(); ++i) {
    const ProgramFacts& script = chain[i - 1];
    const ProgramFacts& interpreter = chain[i];
    if (interpreter.kind == ProgramKind::kMissing && script.interpreter.ends_with('\r')) {
      refuse(out, kExitNotFound,
             script.path +
                 " has Windows line endings, so its first line names no program "
                 "(sed -i 's/\\r$//' " +
                 script.path + ").");
    } else if (interpreter.kind == ProgramKind::kMissing) {
      refuse(
          out, kExitNotFound,
          script.path + " names " + interpreter.path + " in its first line, which does not exist.");
    } else if (interpreter.kind == ProgramKind::kNotExecutable ||
               interpreter.kind == ProgramKind::kNotAFile) {
      refuse(out, kExitNotExecutable,
             script.path + " names " + interpreter.path +
                 " in its first line, which is not executable.");
    }
    if (out.refuse_status != 0) return;
  }
}

void check_loader(const ProgramFacts& program, Diagnosis& out) {
  const std::string& path = program.path;
  if (program.kind == ProgramKind::kElf32) {
    out.cannot_record = path + " is a 32-bit program, and the library is 64-bit.";
  } else if (program.kind == ProgramKind::kOtherMachine) {
    out.cannot_record = path + " is not an x86-64 program.";
  } else if (program.is_static) {
    out.cannot_record = path +
                        " is statically linked, so no library can be preloaded into it; "
                        "link it dynamically.";
  } else if (program.is_set_user) {
    out.cannot_record = path +
                        " is set-user-ID or set-group-ID, and the loader ignores preloaded "
                        "libraries then; run it as its owner or a copy of it.";
  } else if (program.has_capabilities) {
    out.cannot_record = path +
                        " has file capabilities, and the loader ignores preloaded libraries "
                        "then; record a copy of it (cp drops them).";
  } else if (program.interpreter.find("ld-musl") != std::string::npos) {
    out.cannot_record = path + " is a musl program, and the library needs glibc.";
  } else if (program.kind == ProgramKind::kElf && !exists(program.interpreter)) {
    refuse(out, kExitNotFound,
           path + " needs the loader " + program.interpreter + ", which is not on this machine.");
  }
}

// A sanitizer's runtime must come first in a process, intercepts what the library calls before it
// is ready for it, and brings its own malloc.
void check_sanitizer(const ProgramFacts& program, Diagnosis& out) {
  const bool linked = !program.asan_library.empty();
  if (!linked && !program.has_static_sanitizer) return;
  out.keep_out = program.path + " is a sanitizer build" +
                 (linked ? " (" + program.asan_library + ")" : std::string()) +
                 ", whose runtime must come first and brings its own malloc; record a build "
                 "without it";
  out.own_allocator = "a sanitizer";
}

void check_allocator(const ProgramFacts& program, Diagnosis& out) {
  const std::string& path = program.path;
  if (program.defines_malloc) {
    out.own_allocator = program.allocator.empty() ? "one of its own" : program.allocator;
    out.warnings.push_back("allocator inside the executable: " + out.own_allocator + ". " + path +
                           " calls its own malloc before any preloaded one, so its allocations "
                           "are not seen; build it without, or with the shared library of it.");
  } else if (!program.allocator.empty()) {
    out.own_allocator = program.allocator;
    out.warnings.push_back(path + " contains " + program.allocator +
                           " under its own names: what it allocates there is seen only as mmap "
                           "calls.");
  }
}

bool is_wine(const std::string& program) {
  const std::string name = base_name(program);
  return name.starts_with("wine") || name == "proton" || name == "umu-run" ||
         name.find(".exe") != std::string::npos;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string find_anti_cheat(const fs::path& folder) {
  constexpr std::array kNames = {
      std::string_view("easyanticheat"), std::string_view("libeasyanticheat"),
      std::string_view("battleye"),      std::string_view("beclient"),
      std::string_view("beservice"),     std::string_view("start_protected_game")};
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = lower(it->path().filename().string());
    for (const std::string_view known : kNames)
      if (name.starts_with(known)) return it->path().string();
  }
  return {};
}

// A launcher that starts the real program in some way preloaded libraries do not survive.
std::string why_launcher(const std::vector<std::string>& command) {
  struct Launcher {
    std::string_view name;
    std::string_view reason;
  };
  constexpr std::array kLaunchers = {
      Launcher{"flatpak",
               "flatpak starts programs in a sandbox without LD_PRELOAD and without the "
               "library; run the game outside, or give the sandbox both (flatpak run "
               "--env=LD_PRELOAD=... --filesystem=...)."},
      Launcher{"snap",
               "snap starts programs in a sandbox without LD_PRELOAD; run the game outside."},
      Launcher{"sudo", "sudo drops LD_PRELOAD; write: sudo hitchtrace run -- GAME."},
      Launcher{"doas", "doas drops LD_PRELOAD; write: doas hitchtrace run -- GAME."},
      Launcher{"su", "su starts a login without LD_PRELOAD; run hitchtrace inside it."},
      Launcher{"steam",
               "steam hands the game to a client that was already running; put "
               "'hitchtrace run -- %command%' into the game's launch options."},
      Launcher{"xdg-open",
               "xdg-open hands the file to a program that was already running; name the "
               "game's executable."},
      Launcher{"gtk-launch", "gtk-launch starts the game elsewhere; name the game's executable."},
      Launcher{"systemd-run",
               "systemd starts the game with an environment of its own; run "
               "hitchtrace inside the unit."}};
  for (const std::string& word : command)
    for (const Launcher& launcher : kLaunchers)
      if (base_name(word) == launcher.name) return std::string(launcher.reason);
  return {};
}

bool is_script(const std::string& path) {
  std::ifstream in(path);
  return in.get() == '#' && in.get() == '!';
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

Diagnosis diagnose(const std::vector<ProgramFacts>& chain,
                   const std::vector<std::string>& command) {
  Diagnosis out;
  check_start(chain.front(), command.front(), out);
  if (out.refuse_status == 0) check_interpreters(chain, out);
  if (out.refuse_status != 0) return out;

  const ProgramFacts& program = chain.back();
  check_loader(program, out);
  if (out.refuse_status != 0) return out;
  if (out.cannot_record.empty()) check_sanitizer(program, out);
  if (out.cannot_record.empty() && out.keep_out.empty()) check_allocator(program, out);
  if (program.kind == ProgramKind::kWindows ||
      std::any_of(command.begin(), command.end(), is_wine)) {
    out.warnings.emplace_back(
        "a Windows program: frames and faults only, its heap is inside Wine.");
  }
  for (const std::string& word : command) {
    const bool is_program = &word == &command.front();
    std::error_code error;
    const fs::path path = is_program ? chain.front().path : word;
    if (!path.has_parent_path() || !fs::is_regular_file(path, error)) continue;
    const std::string anti_cheat = find_anti_cheat(path.parent_path());
    if (anti_cheat.empty()) continue;
    out.keep_out = "there is an anti-cheat next to this game (" + anti_cheat +
                   "), which may close it or ban the account";
    break;
  }
  return out;
}

PreloadReset find_preload_reset(const std::string& script) {
  if (!is_script(script)) return {};
  std::ifstream in(script);
  std::string line;
  for (unsigned number = 1; number < 10000 && std::getline(in, line); ++number) {
    const std::string_view text = trimmed(line);
    if (text.starts_with('#')) continue;
    const std::size_t at = text.find("LD_PRELOAD=");
    const bool sets_afresh = at != std::string_view::npos &&
                             text.find("$LD_PRELOAD", at) == std::string_view::npos &&
                             text.find("${LD_PRELOAD", at) == std::string_view::npos;
    const bool drops = text.find("unset LD_PRELOAD") != std::string_view::npos ||
                       text.find("env -i") != std::string_view::npos ||
                       text.find("-u LD_PRELOAD") != std::string_view::npos;
    if (sets_afresh || drops) return {number, std::string(text)};
  }
  return {};
}

std::string why_never_loaded(const Diagnosis& diagnosis, const std::vector<ProgramFacts>& chain,
                             const std::vector<std::string>& command) {
  if (!diagnosis.cannot_record.empty()) return diagnosis.cannot_record;
  std::vector<std::string> scripts;
  for (const ProgramFacts& program : chain)
    if (program.kind == ProgramKind::kScript) scripts.push_back(program.path);
  for (const std::string& word : command)
    if (word.find('/') != std::string::npos && is_script(word)) scripts.push_back(word);
  for (const std::string& script : scripts) {
    const PreloadReset reset = find_preload_reset(script);
    if (reset.line == 0) continue;
    const bool sets = reset.text.find("LD_PRELOAD=") != std::string::npos;
    return script + ", line " + std::to_string(reset.line) + " drops the library (" + reset.text +
           "); " + (sets ? "append :$LD_PRELOAD to what it sets." : "remove that.");
  }
  std::string launcher = why_launcher(command);
  if (!launcher.empty()) return launcher;
  if (!scripts.empty())
    return scripts.front() +
           " started no program that loaded the library; run the game's "
           "executable itself, or look in the script for what resets LD_PRELOAD.";
  return chain.front().path +
         " ended without loading the library: it never allocated, or it is one of the programs "
         "that "
         "are not recorded unless named with --target (shells, interpreters, launchers).";
}

}  // namespace hitch::app
