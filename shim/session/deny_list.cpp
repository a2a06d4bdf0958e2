#include "session/deny_list.h"

#include <cstring>

namespace hitch::session {
namespace {

constexpr const char* kWrappers[] = {
    // shells and interpreters of start scripts
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox", "python", "python?", "python?.*",
    "perl", "perl5*", "env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "taskset",
    "chrt", "numactl", "time", "strace", "ltrace", "gdb", "xvfb-run", "Xvfb", "xauth",
    "dbus-run-session", "dbus-launch", "dbus-daemon", "catchsegv", "script", "tee", "sudo",
    "unshare", "bwrap",
    // what such scripts call
    "basename", "dirname", "readlink", "realpath", "uname", "id", "cat", "cut", "grep", "egrep",
    "sed", "awk", "gawk", "mawk", "tr", "head", "tail", "ls", "mkdir", "rm", "cp", "mv", "ln",
    "date", "sleep", "stat", "touch", "chmod", "find", "xargs", "sort", "wc", "which", "test",
    "true", "false", "expr", "printf", "echo", "lsof", "pgrep", "pidof", "ps", "kill", "killall",
    "lspci", "xrandr", "xdg-*", "zenity", "kdialog", "ldconfig", "ldd", "file", "git", "curl",
    "wget", "tar", "gzip", "unzip",
    // Steam and its containers
    "steam", "steam-*", "steamwebhelper", "steamerrorreporter", "reaper", "srt-*", "pv-*",
    "pressure-vessel*", "gameoverlayui", "fossilize_replay", "gamescope", "gamescope*", "mangohud",
    "gamemoderun", "gamemoded", "wine-preloader", "wineserver", "winedevice.exe", "services.exe",
    "explorer.exe",
    // ours
    "hitchtrace", "hitchtrace-record"};

}  // namespace

bool matches(const char* pattern, const char* name) {
  for (; *pattern != '\0'; ++pattern, ++name) {
    if (*pattern == '*') {
      while (*pattern == '*') ++pattern;
      for (;; ++name) {
        if (matches(pattern, name)) return true;
        if (*name == '\0') return false;
      }
    }
    if (*name == '\0' || (*pattern != '?' && *pattern != *name)) return false;
  }
  return *name == '\0';
}

bool is_wrapper(const char* name) {
  for (const char* wrapper : kWrappers) {
    if (matches(wrapper, name)) return true;
  }
  return false;
}

bool is_helper(const char* arguments, unsigned long bytes) {
  const char* end = arguments + bytes;
  for (const char* argument = arguments; argument < end; argument += std::strlen(argument) + 1) {
    if (std::strncmp(argument, "--type=", 7) == 0) return true;
  }
  return false;
}

}  // namespace hitch::session
