#include "recorder/write/hitch_log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <exception>

namespace hitch::write {

namespace trace = format::trace;

namespace {

constexpr std::uint64_t kOutliersASecond = 20;
constexpr std::size_t kMostWaiting = 10000;

constexpr std::array<const char*, static_cast<std::size_t>(format::Op::kCount)> kOpNames = {
    "malloc",          "calloc",
    "realloc",         "aligned allocation",
    "operator new",    "operator new[]",
    "aligned new",     "free",
    "operator delete", "operator delete[]",
    "heap call",       "mmap",
    "munmap",          "mremap"};

// 12345678 -> "12,345,678"
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::shared_ptr<spdlog::logger> quiet_logger(spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>("hitchtrace", std::move(sink));
  logger->set_pattern("%v");
  logger->flush_on(spdlog::level::info);
  // A full disk must not turn into lines on the game's terminal.
  logger->set_error_handler([](const std::string&) {});
  return logger;
}

}  // namespace

HitchLog::HitchLog(const Config& config, frames::FrameAggregator& names)
    : config_(config), names_(names), wall_(config.rule), work_(config.rule) {
  if (config_.live) {
    terminal_ = quiet_logger(std::make_shared<spdlog::sinks::stderr_sink_st>());
    terminal_->set_pattern("hitchtrace: %v");
  }
}

HitchLog::~HitchLog() = default;

bool HitchLog::open(const std::string& path) {
  try {
    file_ = quiet_logger(std::make_shared<spdlog::sinks::basic_file_sink_st>(path));
  } catch (const std::exception&) {
    return false;
  }
  for (const std::string& text : waiting_) file_->info(text);
  waiting_.clear();
  return true;
}

void HitchLog::line(double seconds, const std::string& text) {
  const std::string whole = fmt::format("[{:10.3f} s] {}", seconds, text);
  if (terminal_) terminal_->info(whole);
  if (file_) {
    file_->info(whole);
  } else if (waiting_.size() < kMostWaiting) {
    waiting_.push_back(whole);
  }
}

void HitchLog::note(const std::string& text) {
  if (terminal_) terminal_->info(text);
  if (file_) {
    file_->info(text);
  } else if (waiting_.size() < kMostWaiting) {
    waiting_.push_back(text);
  }
}

void HitchLog::frame_closed(const frames::ClosedFrame& frame) {
  if (frame.record.kind != 0) return;
  const std::uint64_t wall = frame.record.end - frame.record.begin;
  const std::uint64_t idle = frame.record.present_ticks + frame.record.sleep_ticks;
  std::string top;
  if (frame.presenting.top_ticks > 0) {
    top = names_.modules().describe(names_.sites().address(frame.presenting.top_site));
  }
  candidates_.push_back({frame.record, frame.presenting, std::move(top), {}});
  wall_.push(ms(wall), [this](std::size_t, double, const format::HitchVerdict& verdict) {
    candidates_[walls_judged_++].wall = verdict;
  });
  work_.push(ms(wall - std::min(wall, idle)),
             [this](std::size_t, double, const format::HitchVerdict& verdict) { judged(verdict); });
}

void HitchLog::judged(const format::HitchVerdict& work) {
  const Candidate candidate = std::move(candidates_.front());
  candidates_.pop_front();
  --walls_judged_;
  const bool is_hitch = candidate.wall.is_hitch || work.is_hitch;
  if (on_judged_) on_judged_(candidate.record, is_hitch);
  if (!is_hitch) return;
  ++hitches_;
  const trace::Frame& frame = candidate.record;
  const double wall_ms = ms(frame.end - frame.begin);
  const double cpu_ms = static_cast<double>(frame.cpu_ns) / 1e6;
  std::string text =
      candidate.wall.is_hitch
          ? fmt::format("hitch: frame {} took {:.1f} ms, {:.1f} more than the median {:.1f}",
                        frame.id, wall_ms, candidate.wall.excess, candidate.wall.median)
          : fmt::format(
                "hitch hidden by vsync: frame {} worked {:.1f} ms, {:.1f} more than the "
                "median {:.1f}",
                frame.id, work.excess + work.median, work.excess, work.median);
  text += fmt::format("; allocator {:.2f} ms in {} calls, {} + {} page faults",
                      ms(candidate.digest.ticks), grouped(candidate.digest.calls),
                      grouped(frame.minor_faults), grouped(frame.major_faults));
  if ((frame.flags & 4) == 0) {
    text += fmt::format(", off the CPU {:.1f} ms", std::max(0.0, wall_ms - cpu_ms));
  }
  if (!candidate.top_site.empty()) {
    text +=
        fmt::format("; top site {} {:.2f} ms", candidate.top_site, ms(candidate.digest.top_ticks));
  }
  if (frame.message != 0) text += fmt::format("; after \"{}\"", names_.texts().text(frame.message));
  if ((frame.flags & 1) != 0) text += "; some events were lost";
  line(ms(frame.begin) / 1e3, text);
}

void HitchLog::say_skipped() {
  if (outliers_skipped_ == 0) return;
  note(fmt::format("{} more outliers in that second", grouped(outliers_skipped_)));
  outliers_skipped_ = 0;
}

void HitchLog::outlier(const trace::Outlier& outlier) {
  const auto second = static_cast<std::uint64_t>(ms(outlier.begin) / 1e3);
  if (second != outlier_second_) {
    say_skipped();
    outlier_second_ = second;
    outliers_said_ = 0;
  }
  if (outliers_said_ >= kOutliersASecond) {
    ++outliers_skipped_;
    return;
  }
  ++outliers_said_;
  const char* op = outlier.op < kOpNames.size() ? kOpNames[outlier.op] : "call";
  const auto thread = static_cast<std::uint32_t>(outlier.thread);
  line(ms(outlier.begin) / 1e3,
       fmt::format("outlier: {} of {} bytes took {:.1f} us in thread {} ({}), at {}", op,
                   grouped(outlier.size), ms(outlier.ticks) * 1e3, thread,
                   names_.threads().name(thread),
                   names_.modules().describe(
                       names_.sites().address(static_cast<std::uint32_t>(outlier.site)))));
}

void HitchLog::finish() {
  wall_.finish([this](std::size_t, double, const format::HitchVerdict& verdict) {
    candidates_[walls_judged_++].wall = verdict;
  });
  work_.finish(
      [this](std::size_t, double, const format::HitchVerdict& verdict) { judged(verdict); });
  say_skipped();
}

}  // namespace hitch::write
