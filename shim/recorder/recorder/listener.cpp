#include "recorder/recorder/listener.h"

#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hitch::recorder {

namespace {

constexpr int kBacklog = 64;
constexpr std::size_t kMostSilent = 64;

std::string own_name() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) {
    random = reinterpret_cast<std::uintptr_t>(&random);
  }
  char text[64];
  std::snprintf(text, sizeof(text), "hitchtrace-%d-%llx", static_cast<int>(getpid()),
                static_cast<unsigned long long>(random));
  return text;
}

}  // namespace

Listener::~Listener() {
  for (const int connection : silent_) close(connection);
  if (socket_ >= 0) close(socket_);
  if (!path_.empty()) unlink(path_.c_str());
}

bool Listener::open(const std::string& name, std::string& error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof(address.sun_path)) {
    error = "the socket's name is empty or too long";
    return false;
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (fd < 0 || bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(fd, kBacklog) != 0) {
    error = "cannot listen on " + name + ": " + std::strerror(errno);
    if (fd >= 0) close(fd);
    return false;
  }
  socket_ = fd;
  name_ = name;
  if (name[0] != '@') path_ = name;
  return true;
}

bool Listener::open_own(std::string& error) {
  const std::string name = own_name();
  if (open("@" + name, error)) return true;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string directory = runtime != nullptr && runtime[0] == '/' ? runtime : "/tmp";
  return open(directory + "/" + name, error);
}

std::vector<int> Listener::descriptors() const {
  std::vector<int> all = silent_;
  all.push_back(socket_);
  return all;
}

std::vector<Caller> Listener::accept() {
  for (;;) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) break;
    if (silent_.size() >= kMostSilent) {
      close(silent_.front());
      silent_.erase(silent_.begin());
    }
    silent_.push_back(connection);
  }
  std::vector<Caller> callers;
  std::vector<int> still_silent;
  for (const int connection : silent_) {
    Caller caller{connection, 0, {}};
    const ssize_t got = recv(connection, &caller.hello, sizeof(caller.hello), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      still_silent.push_back(connection);
      continue;
    }
    ucred peer{};
    socklen_t length = sizeof(peer);
    if (got != static_cast<ssize_t>(sizeof(caller.hello)) ||
        caller.hello.magic != format::kHelloMagic ||
        getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 ||
        peer.uid != geteuid() || peer.pid <= 0) {
      close(connection);
      continue;
    }
    if (caller.hello.version != format::kHandshakeVersion) {
      answer(connection, format::WelcomeStatus::kWrongVersion, -1, 0);
      continue;
    }
    caller.hello.exe[sizeof(caller.hello.exe) - 1] = '\0';
    caller.pid = peer.pid;
    callers.push_back(caller);
  }
  silent_.swap(still_silent);
  return callers;
}

bool answer(int connection, format::WelcomeStatus status, int memory, std::uint64_t total_bytes) {
  format::Welcome welcome{};
  welcome.magic = format::kHelloMagic;
  welcome.version = format::kHandshakeVersion;
  welcome.status = static_cast<std::uint32_t>(status);
  welcome.total_bytes = total_bytes;
  iovec part{&welcome, sizeof(welcome)};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (memory >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &memory, sizeof(memory));
  }
  const ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL);
  close(connection);
  return sent == static_cast<ssize_t>(sizeof(welcome));
}

}  // namespace hitch::recorder
