// Takes the records of all threads out of the pool in key order.
//
// Each drain reads the clock first and the threads' heads second: every record with a smaller key
// that was published by then is visible, so what is delivered is in order across threads; the rest
// is held back for the next drain. A record whose thread was preempted between taking its key and
// publishing it comes late, with its old key.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "recorder/drain/event.h"
#include "recorder/drain/shared_pool.h"
#include "recorder/drain/thread_stream.h"

namespace hitch::drain {

class Drainer {
 public:
  // Tells whether the thread with this id (the game's view) still exists.
  using IsAlive = std::function<bool(std::uint32_t tid)>;
  // Ticks since tsc_base.
  using Now = std::function<std::uint64_t()>;

  Drainer(SharedPool& pool, EventSink& sink, Now now);

  // Delivers what is due. Returns the number of records delivered; `horizon()` is the key up to
  // which everything published in time has been.
  std::uint64_t drain();
  std::uint64_t horizon() const { return horizon_; }

  // The number of a thread that has no slot yet; it keeps it when it gets one. `tid` is the game's.
  std::uint32_t number_early(std::uint32_t tid);
  // Such a thread is gone.
  void forget_early(std::uint32_t tid) { early_.erase(tid); }

  // Ends threads that are dead and drained, and returns their slots.
  void reap(const IsAlive& alive);
  // The game is gone: delivers everything that was published, whatever its key, and ends all
  // threads.
  void finish();

  std::uint64_t records() const { return records_; }
  std::uint64_t malformed() const;
  std::uint32_t thread_count() const { return next_thread_; }
  std::uint32_t claimed_slots() const { return static_cast<std::uint32_t>(streams_.size()); }
  // Dead threads may be waiting for their slots while few are left.
  bool slots_are_scarce() const { return streams_.size() > format::kSlotCount / 2; }
  // Most big chunks in use at once, and since the last call of take_chunks_peak.
  std::uint32_t chunks_peak() const { return chunks_peak_; }
  std::uint32_t take_chunks_peak();

 private:
  struct Stream {
    ThreadStream read;
    std::uint32_t tid;
    Loss seen{};         // cumulative losses already reported
    bool quiet = false;  // nothing was published in the last drain
  };
  struct Due {
    std::uint64_t key;
    Stream* stream;
  };

  void adopt_new_threads();
  bool first_key(Stream& stream, std::uint64_t& key);
  // Takes records off `stream` while their key is at most `limit`. Returns false when it ran dry,
  // else its next key.
  bool run(Stream& stream, std::uint64_t limit, std::uint64_t& next_key);
  void take(const std::uint64_t* words, unsigned length, std::uint32_t thread);
  void take_rare(const std::uint64_t* words, unsigned length, Event& event);
  void merge(std::uint64_t limit);
  bool is_superseded(const Stream& stream) const;
  void report_losses(Stream& stream);
  void end_thread(Stream& stream);
  void deliver();
  void note_pool_use();

  static constexpr std::size_t kBatch = 256;
  static constexpr std::size_t kRareWords = 4096;

  SharedPool& pool_;
  EventSink& sink_;
  Now now_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> by_slot_;
  std::vector<Due> due_;
  std::vector<Event> batch_;
  std::size_t batched_ = 0;
  std::vector<std::uint64_t> rare_;
  std::size_t rare_used_ = 0;
  std::uint64_t horizon_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t malformed_ended_ = 0;  // of threads that are gone
  std::uint64_t last_free_slots_ = ~std::uint64_t{0};
  unsigned scans_ = 0;
  std::uint32_t next_thread_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> early_;  // tid -> number
  std::uint32_t chunks_peak_ = 0;
  std::uint32_t chunks_peak_recent_ = 0;
};

}  // namespace hitch::drain
