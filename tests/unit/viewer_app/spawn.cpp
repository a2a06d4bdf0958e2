#include "spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace hitch::app {
namespace {

// False at the end of the stream.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t size = read(descriptor, buffer.data(), buffer.size());
  if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

}  // namespace

Spawned::Spawned(const std::vector<std::string>& words,
                 const std::map<std::string, std::string>& environment) {
  std::array<int, 2> out{};
  std::array<int, 2> errors{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(errors.data(), O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(99);
  }
  close(out[1]);
  close(errors[1]);
  out_ = out[0];
  errors_ = errors[0];
}

Spawned::~Spawned() {
  if (pid_ > 0) finish();
}

void Spawned::wait_for_output(const std::string& text) {
  while (said_.out.find(text) == std::string::npos && read_some(out_, said_.out)) {
  }
}

Said Spawned::finish() {
  std::array<pollfd, 2> streams = {pollfd{out_, POLLIN, 0}, pollfd{errors_, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams.data(), streams.size(), -1) < 0) break;
    if (streams[0].revents != 0 && !read_some(out_, said_.out)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !read_some(errors_, said_.errors)) streams[1].fd = -1;
  }
  close(out_);
  close(errors_);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  said_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return said_;
}

}  // namespace hitch::app
