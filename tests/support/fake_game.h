// The game's side of the shared memory, without a shim: claims slots and writes records exactly as
// format/shared_memory.h and buffer_records.h say. For the recorder's tests and benchmark.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "format/buffer_records.h"
#include "format/free_stack.h"
#include "format/handshake.h"

namespace hitch::support {

// A mapped pool, as the game sees it.
struct FakePool {
  std::uint8_t* base = nullptr;
  format::PoolGeometry geometry{};

  format::SharedHeader& header() const { return *reinterpret_cast<format::SharedHeader*>(base); }
  format::ThreadSlot& slot(std::uint32_t index) const {
    return *reinterpret_cast<format::ThreadSlot*>(base + geometry.slot_offset(index));
  }
  format::ChunkHeader& chunk_header(format::ChunkId id) const {
    return *reinterpret_cast<format::ChunkHeader*>(base + geometry.chunk_offset(id));
  }
};

FakePool view_of(void* base);

// Says hello on a socket and maps what it is given. Null base when it is not to be recorded;
// `status` holds the answer.
FakePool connect_fake_game(const std::string& socket_name, const std::string& exe,
                           format::WelcomeStatus& status);

// One thread of the fake game. Durations and keys are the caller's; keys must not fall.
class FakeThread {
 public:
  FakeThread(FakePool pool, std::uint32_t tid);
  FakeThread(FakeThread&& other) = default;

  bool attached() const { return slot_ != nullptr; }
  std::uint32_t slot_index() const { return index_; }
  format::ThreadSlot& slot() { return *slot_; }

  // One call each, with counters and records. `key` is the call's end for allocations, its start
  // for releases. False: no chunk was free, the event is in the gap counters.
  bool alloc(std::uint64_t key, std::uint64_t block, std::uint64_t size, std::uint64_t caller,
             std::uint64_t ticks, format::Op op = format::Op::kMalloc);
  bool free(std::uint64_t key, std::uint64_t block, std::uint64_t caller, std::uint64_t ticks,
            format::Op op = format::Op::kFree);
  void realloc_begin(std::uint64_t key, std::uint64_t old_block, std::uint64_t caller);
  bool realloc_end(format::BufferKind outcome, std::uint64_t key, std::uint64_t block,
                   std::uint64_t size, std::uint64_t caller, std::uint64_t ticks);
  void frame(std::uint64_t entry, std::uint64_t exit, format::Api api = format::Api::kSdl);
  void frame(const format::FrameRecord& record);
  void text(format::BufferKind kind, std::uint64_t key, std::uint32_t id, std::uint32_t aux,
            const std::string& text);
  void outlier(std::uint64_t key, std::uint64_t block, std::uint64_t caller, format::Op op,
               std::uint64_t size, std::uint64_t ticks);
  // `fresh`: outermost first; nothing kept and nothing fresh: not known.
  void stack(std::uint64_t key, unsigned kept, const std::vector<std::uint64_t>& fresh);
  void flush(std::uint64_t key, const format::FlushRecord& sums);
  // Whatever it is, well-formed or not.
  bool raw(const std::vector<std::uint64_t>& words);
  // Counts calls without records, as level count does.
  void count_only(std::uint64_t allocs, std::uint64_t frees, std::uint64_t bytes);

 private:
  bool room(unsigned words);
  void open_chunk(format::ChunkId id);
  void put(const std::uint64_t* words, unsigned count);
  void gap(std::uint64_t key, std::uint64_t bytes, std::uint64_t ticks);
  void addresses(std::uint64_t* words, std::uint64_t block, std::uint64_t caller);
  static void add(std::uint64_t& counter, std::uint64_t value);
  static void count(format::CallCounters& counters, std::uint64_t ticks);

  FakePool pool_;
  std::uint32_t index_ = 0;
  format::ThreadSlot* slot_ = nullptr;
  format::ChunkId chunk_ = 0;
  std::uint32_t offset_ = 0;
  std::uint32_t open_gap_ = 0;
};

}  // namespace hitch::support
