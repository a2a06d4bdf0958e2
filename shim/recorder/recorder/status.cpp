#include "recorder/recorder/status.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace hitch::recorder {

namespace {

void write_line(int descriptor, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t done = write(descriptor, text.data() + at, text.size() - at);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return;
    at += static_cast<std::size_t>(done);
  }
}

}  // namespace

void Status::say(const std::string& word, const std::string& rest) {
  if (descriptor_ < 0) return;
  std::string line = word + " " + rest;
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  write_line(descriptor_, line + "\n");
}

void Status::note(const std::string& text) {
  if (descriptor_ >= 0) {
    say("note", text);
  } else {
    write_line(STDERR_FILENO, "hitchtrace: " + text + "\n");
  }
}

}  // namespace hitch::recorder
