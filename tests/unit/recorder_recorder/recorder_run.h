// Runs the real recorder in a directory of its own and reads what it left.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/trace_bytes.h"

namespace hitch::recorder {

class RecorderRun : public ::testing::Test {
 protected:
  RecorderRun() {
    char pattern[] = "/tmp/hitch-run-XXXXXX";
    root_ = mkdtemp(pattern);
    environment_["HITCH_DIR"] = root_;
    environment_["HITCH_BUFFER_MIB"] = "8";
  }
  ~RecorderRun() override { std::filesystem::remove_all(root_); }

  // Starts `hitchtrace-record WORDS...`; the status pipe is descriptor 3, stdout a file.
  pid_t start(std::vector<std::string> words) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t recorder = fork();
    if (recorder == 0) {
      setpgid(0, 0);
      dup2(pipe_ends[1], 3);
      if (pipe_ends[0] != 3) close(pipe_ends[0]);
      if (pipe_ends[1] != 3) close(pipe_ends[1]);
      for (const auto& [name, value] : environment_) setenv(name.c_str(), value.c_str(), 1);
      const int out = open((root_ + "/stdout").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      const int err = open((root_ + "/stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      dup2(out, 1);
      dup2(err, 2);
      words.insert(words.begin(), HITCH_RECORDER);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    setpgid(recorder, recorder);
    close(pipe_ends[1]);
    status_pipe_ = pipe_ends[0];
    return recorder;
  }
  // Reads the status pipe until it is closed.
  void read_status() {
    char buffer[4096];
    std::string text;
    for (ssize_t got = 0; (got = read(status_pipe_, buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    close(status_pipe_);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) status_.push_back(line);
  }
  // The recorder's own exit status.
  int wait_for(pid_t recorder) {
    read_status();
    int status = 0;
    waitpid(recorder, &status, 0);
    return status;
  }
  int run(const std::vector<std::string>& game) {
    std::vector<std::string> words = {"run", "--status-fd", "3", "--", HITCH_FAKE_GAME, "-"};
    words.insert(words.end(), game.begin(), game.end());
    return wait_for(start(words));
  }

  bool said(const std::string& line) const {
    return std::find(status_.begin(), status_.end(), line) != status_.end();
  }
  std::size_t said_times(const std::string& word) const {
    return static_cast<std::size_t>(
        std::count_if(status_.begin(), status_.end(),
                      [&](const std::string& line) { return line.rfind(word + " ", 0) == 0; }));
  }
  std::vector<std::string> traces() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) {
      if (entry.path().extension() == ".hitch") found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  support::Parsed trace(std::size_t index = 0) const {
    const auto all = traces();
    if (index >= all.size()) {
      ADD_FAILURE() << "no trace " << index;
      return {};
    }
    return support::parse(content(all[index]));
  }
  static std::string fact(const support::Parsed& parsed, const std::string& key) {
    std::string value;
    for (const auto& meta : support::records<format::trace::Meta>(parsed)) {
      if (meta.key == key) value = meta.value;
    }
    return value;
  }
  static std::uint64_t allocs(const support::Parsed& parsed) {
    std::uint64_t sum = 0;
    for (const auto& row : support::records<format::trace::FrameThread>(parsed)) sum += row.allocs;
    return sum;
  }
  static format::trace::End end(const support::Parsed& parsed) {
    const auto ends = support::records<format::trace::End>(parsed);
    EXPECT_EQ(ends.size(), 1u);
    return ends.empty() ? format::trace::End{} : ends[0];
  }

  std::string root_;
  std::map<std::string, std::string> environment_;
  int status_pipe_ = -1;
  std::vector<std::string> status_;
};

}  // namespace hitch::recorder
