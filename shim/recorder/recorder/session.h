// The recording of one process, from its hello to its end.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/options.h"
#include "recorder/drain/drainer.h"
#include "recorder/drain/shared_pool.h"
#include "recorder/faults/fault_price.h"
#include "recorder/faults/fault_source.h"
#include "recorder/frames/frame_aggregator.h"
#include "recorder/recorder/clock.h"
#include "recorder/recorder/machine.h"
#include "recorder/recorder/status.h"
#include "recorder/resolve/memory_watch.h"
#include "recorder/resolve/process_files.h"
#include "recorder/write/hitch_log.h"
#include "recorder/write/trace_writer.h"

namespace hitch::recorder {

// The same for all sessions of a recorder.
struct Surroundings {
  config::Options options;
  Clock clock;
  Facts facts;
  std::vector<faults::FaultPrice> fault_prices;
  std::string fallback_directory;
  Status status;
};

struct GameProcess {
  pid_t pid;                // the recorder's view
  std::uint32_t inner_pid;  // the game's own
  std::string exe;
  bool started_by_run;  // the program the user named: its trace is written however short it lives
};

enum class EndReason : std::uint64_t {
  kExit = 1,
  kSignal = 2,
  kExec = 3,
  kLost = 4,
  kStopped = 5,
  kDiskFull = 6
};

class Session {
 public:
  // Fills in the pool's header; the game may be given the memory afterwards.
  Session(Surroundings& surroundings, GameProcess game, std::unique_ptr<drain::SharedPool> pool,
          int pidfd);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  pid_t pid() const { return game_.pid; }
  int pidfd() const { return pidfd_; }
  bool started_by_run() const { return game_.started_by_run; }
  drain::SharedPool& pool() { return *pool_; }

  // Drains once. True when there was anything to do.
  bool tick(std::uint64_t now_ms);
  // Recording goes on or pauses; of what happens while it is paused only totals are written.
  void set_recording(bool on);
  void toggle_recording() { set_recording(writer_->paused()); }
  // The last drain; closes the file, or drops what was kept when there is none.
  void end(EndReason reason, std::uint64_t status);

 private:
  void prepare_header();
  void write_facts();
  void write_game_facts();
  void put_fact(const std::string& key, const std::string& value);
  void put_calibration();
  void open_faults();
  void update_prices();
  void look_after_threads(std::uint64_t now_ms);
  void open_file();
  void report_failed_writes();
  void put_homeless();
  void put_own_calls();
  void put_stack_checks();
  void sample_memory(std::uint64_t now_ms);
  void watch_for_start();
  // What has settled: the kernel's records of it are visible.
  std::uint64_t settled_ticks() const;
  std::uint64_t ticks() const { return surroundings_.clock.now() - base_ticks_; }

  Surroundings& surroundings_;
  GameProcess game_;
  std::unique_ptr<drain::SharedPool> pool_;
  int pidfd_;
  resolve::ProcessFiles files_;
  std::uint64_t base_ticks_;
  std::uint64_t start_ms_;
  std::uint64_t start_cpu_ns_;
  faults::TickBridge bridge_;
  std::unique_ptr<faults::FaultSource> faults_;
  write::MemorySink* memory_ = nullptr;  // until the trace has its file
  std::unique_ptr<write::TraceWriter> writer_;
  std::unique_ptr<frames::FrameAggregator> frames_;
  std::unique_ptr<drain::Drainer> drainer_;
  std::unique_ptr<write::HitchLog> log_;
  std::string allocator_;
  std::string driver_;
  resolve::MemoryWatch memory_watch_;
  std::uint64_t next_sample_ms_ = 0;
  std::uint64_t next_heap_ms_ = 0;
  std::uint64_t next_look_ms_ = 0;
  std::uint64_t next_names_ms_ = 0;
  std::uint64_t next_calibration_ms_ = 0;
  bool priced_ = false;
  bool started_ = false;  // by option start_frame
  bool disk_full_ = false;
};

std::uint64_t own_cpu_ns();

}  // namespace hitch::recorder
