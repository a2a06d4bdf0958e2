// Rewriting the index of a recording that was cut short.
#pragma once
#include <cstdint>
#include <string>

#include "viewer/load/load_error.h"

namespace hitch::load {

struct Recovery {
  bool was_whole = false;  // nothing to do, nothing written
  std::uint64_t chunks = 0;
  std::uint64_t removed_bytes = 0;  // unreadable bytes after the last whole chunk
  std::uint64_t skipped_bytes = 0;  // unreadable bytes between chunks
};

// Cuts what is unreadable after the last whole chunk, then appends index and trailer. In place when
// `output` is empty; otherwise `path` is left alone and `output`, which must not exist, receives
// the result without the unreadable bytes. Doing it twice changes nothing the second time. A
// recording that somebody still writes (holds a lock on) is refused.
Loaded<Recovery> recover(const std::string& path, const std::string& output);

}  // namespace hitch::load
