// How a game's shim meets the recorder: one SOCK_SEQPACKET message each way on a unix socket.
//
// The socket's name is in HITCH_SOCKET: "@name" is abstract, anything else a path. The shim sends
// Hello; the recorder answers Welcome, with the memfd as SCM_RIGHTS when status is kRecord. Both
// sides check SO_PEERCRED for the same user. The shim maps the memfd, closes it and the socket:
// afterwards the game holds no descriptor of ours.
#pragma once
#include <cstdint>

namespace hitch::format {

constexpr std::uint32_t kHelloMagic = 0x4f4c4848;  // "HHLO"
constexpr std::uint32_t kHandshakeVersion = 1;

struct Hello {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t pid;  // as the game sees it; SO_PEERCRED has the recorder's view
  std::uint32_t flags;
  std::uint64_t mapped_bytes;  // reserved, 0
  char exe[256];               // /proc/self/exe, cut, zero terminated
};
constexpr std::uint32_t kHelloForkChild = 1;    // says hello anew after fork
constexpr std::uint32_t kHelloPreloadLate = 2;  // the library came by dlopen, not by LD_PRELOAD

enum class WelcomeStatus : std::uint32_t {
  kRecord = 1,
  kIgnore = 2,
  kWrongVersion = 3,
  kFailed = 4
};

struct Welcome {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t status;  // WelcomeStatus
  std::uint32_t reserved;
  std::uint64_t total_bytes;  // of the memfd
};

static_assert(sizeof(Hello) == 280 && sizeof(Welcome) == 24);

}  // namespace hitch::format
