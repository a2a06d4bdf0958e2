// The socket games say hello on (format/handshake.h).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/handshake.h"

namespace hitch::recorder {

struct Caller {
  int connection;
  pid_t pid;  // the recorder's view, from SO_PEERCRED
  format::Hello hello;
};

class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Listens on a name of its own: abstract, else a path. False with `error` when neither works.
  bool open_own(std::string& error);
  // "@name" is abstract, anything else a path.
  bool open(const std::string& name, std::string& error);

  const std::string& name() const { return name_; }
  // To be polled for reading.
  std::vector<int> descriptors() const;
  // Takes what has arrived. Callers with a well-formed hello of the same user are returned; their
  // connection is the caller's to close. Others are answered or dropped.
  std::vector<Caller> accept();

 private:
  int socket_ = -1;
  std::string name_;
  std::string path_;         // to be unlinked
  std::vector<int> silent_;  // connected, no hello yet
};

// Answers and closes the connection; `memory` is sent along with kRecord.
bool answer(int connection, format::WelcomeStatus status, int memory, std::uint64_t total_bytes);

}  // namespace hitch::recorder
