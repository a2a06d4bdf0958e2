#include "session/connect.h"

#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/syscall.h"
#include "base/text.h"
#include "format/handshake.h"
#include "format/shared_memory.h"

namespace hitch::session {
namespace {

using base::system_call;
using base::word;

long open_socket(const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(name);
  if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, name, length);
  if (name[0] == '@') address.sun_path[0] = '\0';
  const long fd = system_call(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return fd;
  const long status = system_call(SYS_connect, fd, word(&address),
                                  static_cast<long>(offsetof(sockaddr_un, sun_path) + length));
  if (status < 0) {
    system_call(SYS_close, fd);
    return status;
  }
  return fd;
}

bool same_user(long fd) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (system_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, word(&peer), word(&length)) != 0)
    return false;
  return peer.uid == static_cast<uid_t>(system_call(SYS_geteuid));
}

// Receives the answer and, when there is one, the memory's descriptor (else -1).
long receive_welcome(long fd, format::Welcome& welcome, int& memory) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{&welcome, sizeof welcome};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  memory = -1;
  long n = 0;
  do {
    n = system_call(SYS_recvmsg, fd, word(&message), MSG_CMSG_CLOEXEC);
  } while (n == -EINTR);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (n > 0 && header != nullptr && header->cmsg_level == SOL_SOCKET &&
      header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&memory, CMSG_DATA(header), sizeof memory);
  }
  return n;
}

bool sound(const format::SharedHeader& header, std::uint64_t bytes) {
  return header.magic == format::kSharedMagic && header.version == format::kSharedVersion &&
         header.header_bytes == sizeof(format::SharedHeader) && header.total_bytes == bytes &&
         header.slot_count == format::kSlotCount;
}

}  // namespace

Connection connect_recorder(const char* socket_name, const char* exe, bool fork_child) {
  const long fd = open_socket(socket_name);
  if (fd < 0) return {nullptr, 0, "no recorder listens"};
  Connection result{nullptr, 0, nullptr};
  format::Hello hello{};
  hello.magic = format::kHelloMagic;
  hello.version = format::kHandshakeVersion;
  hello.pid = static_cast<std::uint32_t>(system_call(SYS_getpid));
  hello.flags = fork_child ? format::kHelloForkChild : 0;
  base::copy_text(hello.exe, exe);
  timeval patience{5, 0};  // the recorder may be preparing memory; it never takes this long
  system_call(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, word(&patience), sizeof patience);
  format::Welcome welcome{};
  int memory = -1;
  if (!same_user(fd)) {
    result.why = "the recorder belongs to another user";
  } else if (system_call(SYS_sendto, fd, word(&hello), sizeof hello, MSG_NOSIGNAL) !=
                 static_cast<long>(sizeof hello) ||
             receive_welcome(fd, welcome, memory) != static_cast<long>(sizeof welcome)) {
    result.why = "the recorder did not answer";
  } else if (welcome.magic != format::kHelloMagic || welcome.version != format::kHandshakeVersion ||
             welcome.status == static_cast<std::uint32_t>(format::WelcomeStatus::kWrongVersion)) {
    result.why = "library and recorder are of different versions";
  } else if (welcome.status == static_cast<std::uint32_t>(format::WelcomeStatus::kFailed)) {
    result.why = "the recorder could not prepare memory";
  } else if (welcome.status == static_cast<std::uint32_t>(format::WelcomeStatus::kRecord) &&
             memory >= 0) {
    const long address = system_call(SYS_mmap, 0, static_cast<long>(welcome.total_bytes),
                                     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, memory, 0);
    if (address < 0 && address > -4096) {
      result.why = "the shared memory could not be mapped";
    } else {
      auto* base = reinterpret_cast<char*>(address);
      if (sound(*reinterpret_cast<const format::SharedHeader*>(base), welcome.total_bytes)) {
        system_call(SYS_madvise, address, static_cast<long>(welcome.total_bytes), MADV_DONTFORK);
        system_call(SYS_madvise, address, static_cast<long>(welcome.total_bytes), MADV_DONTDUMP);
        result.base = base;
        result.bytes = welcome.total_bytes;
      } else {
        system_call(SYS_munmap, address, static_cast<long>(welcome.total_bytes));
        result.why = "library and recorder are of different versions";
      }
    }
  }
  if (memory >= 0) system_call(SYS_close, memory);
  system_call(SYS_close, fd);
  return result;
}

namespace {

// Runs in the recorder-to-be, on the game's stack and memory (CLONE_VM): raw system calls only, no
// writes to anything but its own stack.
[[noreturn]] void become_recorder(const char* recorder, const char* socket_name,
                                  const char* const* environment) {
  system_call(SYS_setsid);
  const int null =
      static_cast<int>(system_call(SYS_openat, -100, word("/dev/null"), 2 /* O_RDWR */));
  if (null >= 0) {
    system_call(SYS_dup2, null, 0);
    system_call(SYS_dup2, null, 1);
  }
  if (system_call(SYS_close_range, 3, ~0u, 0) != 0) {
    for (int fd = 3; fd < 4096; ++fd) system_call(SYS_close, fd);
  }
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } fallback{};
  for (int signal = 1; signal <= 64; ++signal) {
    system_call(SYS_rt_sigaction, signal, word(&fallback), 0, 8);
  }
  const unsigned long no_signals = 0;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&no_signals), 0, 8);
  unsigned char all_cpus[128];
  std::memset(all_cpus, 0xff, sizeof all_cpus);
  system_call(SYS_sched_setaffinity, 0, sizeof all_cpus, word(all_cpus));
  const int normal_priority = 0;
  system_call(SYS_sched_setscheduler, 0, SCHED_OTHER, word(&normal_priority));
  const char* const arguments[] = {recorder, "bare", "--socket", socket_name, nullptr};
  system_call(SYS_execve, word(recorder), word(arguments), word(environment));
  system_call(SYS_exit_group, 127);
  __builtin_unreachable();
}

// clone(CLONE_VM | CLONE_VFORK) without an exit signal, inline: the child runs on this very stack
// frame while the caller is suspended, and must leave through exec or exit.
HITCH_FAST long quiet_vfork() { return system_call(SYS_clone, CLONE_VM | CLONE_VFORK, 0); }

}  // namespace

long start_recorder(const char* recorder, const char* socket_name,
                    const char* const* game_environment) {
  if (system_call(SYS_access, word(recorder), X_OK) != 0) return -ENOENT;
  // The environment without LD_PRELOAD.
  constexpr unsigned kMaxVariables = 1024;
  const char* environment[kMaxVariables];
  unsigned count = 0;
  for (const char* const* variable = game_environment;
       *variable != nullptr && count + 1 < kMaxVariables; ++variable) {
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) != 0) environment[count++] = *variable;
  }
  environment[count] = nullptr;

  // The middle process dies at once and is reaped here; the recorder is then adopted by init, not
  // by a game that reaps orphans: that role is laid down for the moment.
  int subreaper = 0;
  system_call(SYS_prctl, PR_GET_CHILD_SUBREAPER, word(&subreaper));
  if (subreaper != 0) system_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 0);
  const unsigned long all_signals = ~0ul;
  unsigned long old_signals = 0;
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&all_signals), word(&old_signals), 8);
  const long middle = quiet_vfork();
  if (middle == 0) {
    const long grandchild = quiet_vfork();
    if (grandchild == 0) become_recorder(recorder, socket_name, environment);
    system_call(SYS_exit_group, grandchild < 0 ? 1 : 0);
    __builtin_unreachable();
  }
  if (middle > 0) {
    while (system_call(SYS_wait4, middle, 0, __WALL, 0) == -EINTR) {
    }
  }
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, word(&old_signals), 0, 8);
  if (subreaper != 0) system_call(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1);
  return middle > 0 ? 0 : middle;
}

}  // namespace hitch::session
