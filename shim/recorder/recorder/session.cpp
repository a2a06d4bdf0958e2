#include "recorder/recorder/session.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "recorder/resolve/texts.h"
#include "recorder/write/file_sink.h"
#include "recorder/write/trace_name.h"

namespace hitch::recorder {

namespace trace = format::trace;

namespace {

constexpr std::uint64_t kFileAfterMs = 2000;
constexpr std::uint64_t kLookEveryMs = 50;
constexpr std::uint64_t kNamesEveryMs = 1000;
constexpr std::uint64_t kFirstNamesMs = 100;
constexpr std::uint64_t kCalibrateEveryMs = 1000;
constexpr std::uint64_t kSampleEveryMs = 100;
constexpr std::uint64_t kHeapEveryMs = 1000;
constexpr std::uint64_t kFlightRecorderMib = 256;
// Places among the values of option keep.
constexpr std::uint32_t kKeepAll = 1;
constexpr std::uint32_t kKeepHitches = 2;

// A text the game wrote into the header.
template <std::size_t Size>
std::string header_text(const char (&field)[Size]) {
  char copy[Size];
  for (std::size_t i = 0; i < Size; ++i) copy[i] = __atomic_load_n(&field[i], __ATOMIC_RELAXED);
  copy[Size - 1] = '\0';
  return resolve::clean_utf8(copy);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

std::string option_text(const config::Options& options, const config::OptionRow& row) {
  const void* field = reinterpret_cast<const char*>(&options) + row.offset;
  switch (row.type) {
    case config::OptionType::Text:
      return resolve::clean_utf8(static_cast<const config::Text255*>(field)->text);
    case config::OptionType::Number:
      return std::to_string(*static_cast<const std::uint64_t*>(field));
    case config::OptionType::Real: {
      char text[32];
      std::snprintf(text, sizeof(text), "%g", *static_cast<const double*>(field));
      return text;
    }
    case config::OptionType::Switch:
      return *static_cast<const bool*>(field) ? "1" : "0";
    case config::OptionType::Choice: {
      const std::string values = row.values;
      std::size_t begin = 0;
      for (auto left = *static_cast<const std::uint32_t*>(field); left > 0; --left) {
        begin = values.find('|', begin) + 1;
      }
      return values.substr(begin, values.find('|', begin) - begin);
    }
  }
  return {};
}

std::string iso_time(std::uint64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / 1'000'000'000u);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::uint64_t own_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(used.tv_nsec);
}

Session::Session(Surroundings& surroundings, GameProcess game,
                 std::unique_ptr<drain::SharedPool> pool, int pidfd)
    : surroundings_(surroundings),
      game_(std::move(game)),
      pool_(std::move(pool)),
      pidfd_(pidfd),
      files_(game_.pid),
      base_ticks_(surroundings.clock.now()),
      start_ms_(monotonic_ms()),
      start_cpu_ns_(own_cpu_ns()),
      bridge_(static_cast<double>(surroundings.clock.hz()), base_ticks_),
      memory_watch_(files_) {
  const config::Options& options = surroundings_.options;
  prepare_header();
  auto memory = std::make_unique<write::MemorySink>();
  memory_ = memory.get();
  const bool keep_hitches = options.keep == kKeepHitches;
  std::uint64_t most_mib = options.max_file_mib;
  if (most_mib == 0 && keep_hitches) most_mib = kFlightRecorderMib;
  writer_ = std::make_unique<write::TraceWriter>(std::move(memory), surroundings_.clock.hz(),
                                                 realtime_ns(), most_mib << 20);
  frames::AggregatorConfig config;
  config.tsc_hz = surroundings_.clock.hz();
  config.window_ms = options.window_ms;
  config.large_block_bytes = options.large_block_kib * 1024;
  config.level = static_cast<format::Level>(options.level);
  config.time_mode = static_cast<format::TimeMode>(options.time);
  config.keep_events = options.keep == kKeepAll || keep_hitches;
  config.keep_hitches_only = keep_hitches;
  config.keep_around = options.keep_around;
  frames_ = std::make_unique<frames::FrameAggregator>(
      config, files_, static_cast<std::uint32_t>(game_.pid) != game_.inner_pid, *writer_);
  drainer_ = std::make_unique<drain::Drainer>(*pool_, *frames_, [this] {
    const std::uint64_t until = settled_ticks();
    frames_->kernel().fetch();
    return until;
  });
  const bool live = std::strcmp(options.log.text, "-") == 0;
  log_ = std::make_unique<write::HitchLog>(
      write::HitchLog::Config{
          {options.hitch_ms, options.hitch_mad}, surroundings_.clock.hz(), live},
      *frames_);
  frames_->set_on_outlier([this](const trace::Outlier& outlier) { log_->outlier(outlier); });
  frames_->timeline().set_on_closed(
      [this](const frames::ClosedFrame& frame) { log_->frame_closed(frame); });
  log_->set_on_judged(
      [this](const trace::Frame& frame, bool is_hitch) { frames_->judged(frame, is_hitch); });
  frames_->set_on_request([this](bool on) { set_recording(on); });
  if (config.level == format::Level::kCount) {
    frames_->timeline().set_epoch_bump(
        [this] { return pool_->header().frame_epoch.fetch_add(1, std::memory_order_acq_rel); });
  }
  update_prices();
  write_facts();
  put_calibration();
  open_faults();
  log_->note("hitchtrace: " + game_.exe + ", pid " + std::to_string(game_.pid) + ", " +
             iso_time(realtime_ns()));
  if (config.keep_events && config.level == format::Level::kCount)
    log_->note("--keep has nothing to keep at --level count: no event is recorded one by one");
  if (options.paused || options.start_frame > 0) set_recording(false);
  if (options.target.text[0] != '\0') open_file();
}

Session::~Session() {
  if (pidfd_ >= 0) close(pidfd_);
}

void Session::prepare_header() {
  const config::Options& options = surroundings_.options;
  format::SharedHeader& header = pool_->header();
  header.tsc_base = base_ticks_;
  header.tsc_hz = surroundings_.clock.hz();
  header.outlier_ticks = static_cast<std::uint64_t>(
      std::max(1.0, options.outlier_us * static_cast<double>(header.tsc_hz) / 1e6));
  header.level = options.level;
  header.time_mode = options.time;
  header.clock_kind = static_cast<std::uint32_t>(surroundings_.clock.kind());
  header.recording.store(1, std::memory_order_release);
}

void Session::put_fact(const std::string& key, const std::string& value) {
  writer_->put(trace::Meta{key, value});
}

void Session::write_facts() {
  put_fact("tool.version", HITCH_VERSION);
  for (const auto& [key, value] : surroundings_.facts) put_fact(key, value);
  put_fact("game.exe", resolve::clean_utf8(game_.exe));
  put_fact("game.args", resolve::clean_utf8(files_.command_line()));
  put_fact("game.cwd", resolve::clean_utf8(files_.working_directory()));
  put_fact("game.pid", std::to_string(game_.pid));
  put_fact("game.start", iso_time(realtime_ns()));
  const Clock& clock = surroundings_.clock;
  put_fact("clock.kind", clock.kind() == format::ClockKind::kTsc ? "tsc" : "monotonic_raw");
  put_fact("clock.hz", std::to_string(clock.hz()));
  put_fact("clock.price_ticks", number(clock.price_ticks()));
  put_fact("clock.pair_floor_ticks", std::to_string(clock.pair_floor()));
  for (std::size_t i = 0; i < config::kOptionCount; ++i) {
    const config::OptionRow& row = config::kOptionRows[i];
    put_fact(std::string("option.") + row.field, option_text(surroundings_.options, row));
  }
}

// What the game tells about itself while it runs; a later fact with the same key replaces an
// earlier one.
void Session::write_game_facts() {
  const format::SharedHeader& header = pool_->header();
  const std::string allocator = header_text(header.allocator);
  if (!allocator.empty() && allocator != allocator_) put_fact("game.allocator", allocator);
  allocator_ = allocator;
  const std::string driver = header_text(header.driver);
  if (!driver.empty() && driver != driver_) put_fact("game.driver", driver);
  driver_ = driver;
  const std::uint32_t alloc = header.price_alloc_x256.load(std::memory_order_relaxed);
  if (alloc == 0 || priced_) return;
  priced_ = true;
  put_fact("shim.alloc_price_ticks", number(alloc / 256.0));
  put_fact("shim.free_price_ticks",
           number(header.price_free_x256.load(std::memory_order_relaxed) / 256.0));
  const std::uint32_t clock = header.price_clock_x256.load(std::memory_order_relaxed);
  if (clock != 0) put_fact("clock.price_ticks", number(clock / 256.0));
  const std::uint32_t floor = header.price_pair_floor.load(std::memory_order_relaxed);
  if (floor != 0) put_fact("clock.pair_floor_ticks", std::to_string(floor));
}

void Session::update_prices() {
  const format::SharedHeader& header = pool_->header();
  const std::uint64_t told = header.price_pair_floor.load(std::memory_order_relaxed);
  frames_->set_prices(told != 0 ? told : surroundings_.clock.pair_floor(),
                      {header.price_alloc_x256.load(std::memory_order_relaxed),
                       header.price_free_x256.load(std::memory_order_relaxed),
                       header.price_fresh_x256.load(std::memory_order_relaxed),
                       header.price_kept_x256.load(std::memory_order_relaxed)});
  frames_->kernel().set_own_memory({{{header.shared_begin.load(std::memory_order_relaxed),
                                      header.shared_end.load(std::memory_order_relaxed)},
                                     {header.private_begin.load(std::memory_order_relaxed),
                                      header.private_end.load(std::memory_order_relaxed)}}});
}

void Session::put_calibration() {
  trace::Calibration pair = surroundings_.clock.calibrate();
  bridge_.anchor(pair.ticks, pair.monotonic_raw_ns);
  pair.ticks -= base_ticks_;
  writer_->put(pair);
}

// Before the game gets its answer: until then its only thread waits in its first allocation.
void Session::open_faults() {
  const config::Options& options = surroundings_.options;
  faults::SourceConfig config;
  config.pid = game_.pid;
  config.threads = files_.threads();
  config.wanted = static_cast<faults::Wanted>(options.faults);
  config.sample_code = options.sample_code;
  faults::OpenedSource opened = faults::open_source(config, bridge_);
  faults_ = std::move(opened.source);
  put_fact("faults.source", faults_->name());
  put_fact("faults.in_system_calls", faults_->sees_system_calls() ? "1" : "0");
  if (!opened.note.empty()) {
    put_fact("faults.note", opened.note);
    log_->note("page faults are learnt from " + faults_->name() + " only: " + opened.note);
  }
  for (const faults::FaultPrice& price : surroundings_.fault_prices) {
    const auto picoseconds = [](double ns) { return static_cast<std::uint64_t>(ns * 1e3); };
    writer_->put(trace::FaultPrice{static_cast<std::uint64_t>(price.price_class), 0, price.faults,
                                   picoseconds(price.median_ns), picoseconds(price.low_ns),
                                   picoseconds(price.high_ns), picoseconds(price.capture_ns),
                                   picoseconds(price.outside_ns)});
    if (price.price_class == format::FaultPriceClass::kAnonymous)
      put_fact("fault.price_ns", number(price.median_ns));
  }
  frames_->kernel().set_source(faults_.get());
  frames_->kernel().set_early_threads(
      {[this](std::uint32_t tid) { return drainer_->number_early(tid); },
       [this](std::uint32_t tid) { drainer_->forget_early(tid); }});
}

std::uint64_t Session::settled_ticks() const {
  const std::uint64_t now = ticks();
  if (faults_->kind() != faults::SourceKind::kPerfEvent) return now;
  const std::uint64_t settle = faults::kSettleNs * (surroundings_.clock.hz() / 1'000'000) / 1000;
  return now - std::min(now, settle);
}

void Session::look_after_threads(std::uint64_t now_ms) {
  if (now_ms >= next_look_ms_ || drainer_->slots_are_scarce()) {
    next_look_ms_ = now_ms + kLookEveryMs;
    frames_->threads().look();
    drainer_->reap([this](std::uint32_t tid) { return frames_->threads().is_alive(tid); });
  }
  if (now_ms >= next_names_ms_) {
    next_names_ms_ = next_names_ms_ == 0 ? now_ms + kFirstNamesMs : now_ms + kNamesEveryMs;
    frames_->threads().refresh_names();
    write_game_facts();
  }
}

void Session::set_recording(bool on) {
  if (writer_->paused() == !on) return;
  frames_->set_paused(!on);  // first: what has gathered is still written
  writer_->set_paused(!on);
  const std::uint64_t frame = frames_->timeline().current().record.id;
  writer_->put(trace::Recording{ticks(), on ? std::uint64_t{1} : 0, frame});
  log_->note((on ? "recording from frame " : "paused in frame ") + std::to_string(frame));
}

// Option start_frame counts pictures, as reports do.
void Session::watch_for_start() {
  const std::uint64_t wanted = surroundings_.options.start_frame;
  if (wanted == 0 || started_ || frames_->timeline().presents() < wanted) return;
  started_ = true;
  set_recording(true);
}

void Session::sample_memory(std::uint64_t now_ms) {
  if (now_ms < next_sample_ms_ || writer_->paused()) return;
  next_sample_ms_ = now_ms + kSampleEveryMs;
  const resolve::LiveBlocks& live = frames_->blocks().live();
  const std::uint64_t begin = ticks();
  if (const auto sample = memory_watch_.memory(begin, live)) writer_->put(*sample);
  if (now_ms < next_heap_ms_) return;
  if (const auto sample = memory_watch_.heap(begin, live)) writer_->put(*sample);
  // At most half a percent of a core, however many blocks there are.
  const std::uint64_t price_ms = (ticks() - begin) * 1000 / surroundings_.clock.hz();
  next_heap_ms_ = now_ms + std::max(kHeapEveryMs, price_ms * 200);
}

bool Session::tick(std::uint64_t now_ms) {
  if (next_look_ms_ == 0) next_look_ms_ = now_ms + kLookEveryMs;
  update_prices();
  const std::uint64_t drained = drainer_->drain();
  frames_->note_pool_use(drainer_->take_chunks_peak());
  frames_->advance(drainer_->horizon(), now_ms);
  look_after_threads(now_ms);
  watch_for_start();
  sample_memory(now_ms);
  if (now_ms >= next_calibration_ms_) {
    next_calibration_ms_ = now_ms + kCalibrateEveryMs;
    put_calibration();
  }
  if (memory_ != nullptr &&
      (frames_->timeline().has_presents() || now_ms >= start_ms_ + kFileAfterMs)) {
    open_file();
  }
  writer_->tick(now_ms, drainer_->horizon());
  report_failed_writes();
  return drained != 0;
}

void Session::open_file() {
  if (memory_ == nullptr || disk_full_) return;
  const config::Options& options = surroundings_.options;
  const write::OpenedTrace opened = write::create_trace(
      {options.output.text, options.dir.text, game_.exe, surroundings_.fallback_directory},
      std::time(nullptr));
  if (opened.descriptor < 0) {
    disk_full_ = true;
    pool_->header().recording.store(0, std::memory_order_release);
    surroundings_.status.note(opened.error + "; the game runs on unrecorded");
    memory_ = nullptr;
    writer_->redirect(std::make_unique<write::NullSink>(), {});
    return;
  }
  if (!opened.note.empty()) surroundings_.status.note(opened.note);
  writer_->flush();
  const std::string so_far = memory_->bytes();
  memory_ = nullptr;
  writer_->redirect(std::make_unique<write::FileSink>(opened.descriptor, opened.path), so_far);
  const std::string asked = options.log.text;
  const std::string log = asked.empty() || asked == "-" ? opened.path + ".log" : asked;
  if (!log_->open(log)) surroundings_.status.note("cannot write the log " + log);
  char* whole = realpath(opened.path.c_str(), nullptr);
  surroundings_.status.say("trace", whole != nullptr ? whole : opened.path);
  std::free(whole);
}

void Session::report_failed_writes() {
  if (!writer_->failed() || disk_full_) return;
  disk_full_ = true;
  pool_->header().recording.store(0, std::memory_order_release);
  const std::string text = "the trace cannot be written further (" + writer_->trouble() +
                           "); what it holds is kept, the game runs on unrecorded";
  surroundings_.status.note(text);
  log_->note(text);
}

void Session::put_homeless() {
  const format::SharedHeader& header = pool_->header();
  trace::Counters record;
  record.thread = ~std::uint64_t{0};
  record.allocs = header.homeless_allocs.load(std::memory_order_relaxed);
  record.frees = header.homeless_frees.load(std::memory_order_relaxed);
  record.reallocs = header.homeless_reallocs.load(std::memory_order_relaxed);
  record.alloc_bytes = header.homeless_bytes.load(std::memory_order_relaxed);
  record.dropped = record.allocs + record.frees + record.reallocs;
  if (record.dropped == 0) return;
  if (surroundings_.options.level == static_cast<std::uint32_t>(format::Level::kCount)) {
    record.dropped = 0;
  }
  writer_->put(record);
}

void Session::put_own_calls() {
  const format::SharedHeader& header = pool_->header();
  writer_->put(trace::OwnCalls{header.own_allocs.load(std::memory_order_relaxed),
                               header.own_frees.load(std::memory_order_relaxed),
                               header.own_reallocs.load(std::memory_order_relaxed)});
}

void Session::put_stack_checks() {
  const format::SharedHeader& header = pool_->header();
  const trace::StackChecks checks{header.stacks_checked.load(std::memory_order_relaxed),
                                  header.stacks_different.load(std::memory_order_relaxed),
                                  header.stacks_truncated.load(std::memory_order_relaxed)};
  if (checks.checked > 0) writer_->put(checks);
}

void Session::end(EndReason reason, std::uint64_t status) {
  pool_->header().recording.store(0, std::memory_order_release);
  const std::uint64_t end_ticks = ticks();
  if (memory_ != nullptr && game_.started_by_run && reason != EndReason::kExec) open_file();
  update_prices();
  frames_->kernel().fetch();  // all of it: nothing runs any more
  drainer_->finish();
  frames_->note_pool_use(drainer_->take_chunks_peak());
  write_game_facts();
  frames_->finish(end_ticks);
  log_->finish();
  frames_->finish_events();
  if (surroundings_.options.keep == kKeepHitches && !frames_->timeline().has_presents()) {
    const std::string text =
        "no frame was seen, so --keep hitches kept no events; --keep all keeps them all";
    log_->note(text);
    if (game_.started_by_run) surroundings_.status.note(text);
  }
  if (frames_->overflowed_events() > 0) {
    log_->note(std::to_string(frames_->overflowed_events()) +
               " events came too fast to be held back until their frames were judged, and are not "
               "kept");
  }
  put_homeless();
  put_own_calls();
  put_stack_checks();
  put_fact("game.build_id", frames_->modules().build_id_of(game_.exe));
  put_calibration();
  writer_->put(trace::Repair{frames_->blocks().inversions(), frames_->blocks().implied_frees(),
                             frames_->blocks().unknown_frees(), frames_->timeline().late(),
                             drainer_->malformed()});
  writer_->flush();
  if (memory_ != nullptr && frames_->timeline().has_presents()) open_file();
  report_failed_writes();
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  trace::End end;
  end.time = end_ticks;
  end.reason = static_cast<std::uint64_t>(disk_full_ ? EndReason::kDiskFull : reason);
  end.status = status;
  end.recorder_cpu_ns = own_cpu_ns() - start_cpu_ns_;
  end.recorder_peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  end.pool_chunks_peak = drainer_->chunks_peak();
  end.pool_chunks = pool_->geometry().chunk_count;
  end.events = drainer_->records();
  writer_->finish(end);
}

}  // namespace hitch::recorder
