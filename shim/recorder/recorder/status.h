// What the recorder tells the command that started it: one line each, in a pipe.
//   trace PATH | connected PID EXE | ignored PID EXE | exec-failed ERRNO | exit CODE | signal N |
//   note TEXT
#pragma once
#include <string>

namespace hitch::recorder {

class Status {
 public:
  // -1: nobody listens; notes then go to stderr.
  explicit Status(int descriptor) : descriptor_(descriptor) {}

  void say(const std::string& word, const std::string& rest);
  void note(const std::string& text);

 private:
  int descriptor_;
};

}  // namespace hitch::recorder
