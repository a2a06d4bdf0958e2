#include "viewer/app/recorder_status.h"

#include <charconv>

namespace hitch::app {
namespace {

// Longer ones are not from our recorder.
constexpr std::size_t kMaxLine = 16 * 1024;

template <class T>
bool take_number(std::string_view& text, T& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return true;
}

}  // namespace

void StatusParser::feed(std::string_view bytes) {
  rest_.append(bytes);
  std::size_t start = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', start)) != std::string::npos; start = end + 1)
    take_line(std::string_view(rest_).substr(start, end - start));
  rest_.erase(0, start);
  if (rest_.size() > kMaxLine) rest_.clear();
}

void StatusParser::take_line(std::string_view line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  std::string_view rest =
      space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
  int number = 0;
  GameProcess process;
  if (word == "trace") {
    if (!rest.empty()) status_.traces.emplace_back(rest);
  } else if (word == "note") {
    status_.notes.emplace_back(rest);
  } else if (word == "connected" || word == "ignored") {
    if (!take_number(rest, process.pid)) return;
    process.exe = rest;
    (word == "connected" ? status_.connected : status_.ignored).push_back(std::move(process));
  } else if (word == "exec-failed") {
    if (take_number(rest, number)) status_.exec_error = number;
  } else if (word == "exit") {
    if (take_number(rest, number)) status_.exit_code = number;
  } else if (word == "signal") {
    if (take_number(rest, number)) status_.killed_by = number;
  }
}

}  // namespace hitch::app
