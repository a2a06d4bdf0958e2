// Meeting the recorder: handshake, mapping of its memory, and starting one when there is none.
#pragma once
#include <cstdint>

namespace hitch::session {

struct Connection {
  char* base;  // null: not recorded
  std::uint64_t bytes;
  const char* why;  // when base is null and it is worth saying: a sentence fragment
};

// Connects to the recorder's socket ("@abstract" or a path), says hello, maps what comes back and
// closes both descriptors. Only raw system calls: valid in the first malloc of a process.
Connection connect_recorder(const char* socket_name, const char* exe, bool fork_child);

// Starts `recorder` detached from the game: double vfork, session of its own, no signal to the
// game, hidden from its wait, default dispositions, affinity and scheduling. Returns 0 or a
// negative errno.
long start_recorder(const char* recorder, const char* socket_name,
                    const char* const* game_environment);

}  // namespace hitch::session
