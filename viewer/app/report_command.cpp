#include "viewer/app/report_command.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "viewer/analyse/report.h"
#include "viewer/app/site_namer.h"
#include "viewer/load/trace_reader.h"
#include "viewer/model/site_groups.h"
#include "viewer/model/trace_loader.h"
#include "viewer/render/json_report.h"
#include "viewer/render/summary.h"
#include "viewer/render/text_report.h"

namespace hitch::app {
namespace {

constexpr unsigned kUsualWidth = 80;
constexpr unsigned kMostUsefulWidth = 160;

int descriptor_of(const std::ostream& out) {
  if (&out == &std::cout) return STDOUT_FILENO;
  if (&out == &std::cerr) return STDERR_FILENO;
  return -1;
}

// An unset variable and an empty one mean the same here.
std::string_view environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? std::string_view() : value;
}

bool locale_is_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(variable);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos ||
           value.find("utf-8") != std::string_view::npos;
  }
  return false;
}

render::Style style_for(const ReportOptions& options, const std::ostream& out) {
  render::Style style;
  const int descriptor = descriptor_of(out);
  const bool terminal = descriptor >= 0 && isatty(descriptor) != 0;
  const bool dumb = environment("TERM") == "dumb";
  style.colour =
      options.colour == Colour::kAlways ||
      (options.colour == Colour::kAuto && terminal && !dumb && environment("NO_COLOR").empty());
  style.unicode = locale_is_utf8();
  style.width = options.width;
  winsize size{};
  if (style.width == 0 && terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0) {
    style.width = std::min<unsigned>(size.ws_col, kMostUsefulWidth);
  }
  if (style.width == 0) style.width = kUsualWidth;
  return style;
}

// "reading events  42 %", on a terminal, once it has taken a second; cleared when it is done.
class ProgressLine {
 public:
  ProgressLine(std::ostream& errors, bool shown) : errors_(errors), shown_(shown) {}
  ~ProgressLine() {
    if (last_ >= 0) errors_ << "\r\033[K" << std::flush;
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void at(std::uint64_t done, std::uint64_t all) {
    using std::chrono::steady_clock;
    if (!shown_ || all == 0 || steady_clock::now() - begin_ < std::chrono::seconds(1)) return;
    const int percent = static_cast<int>(done * 100 / all);
    if (percent == last_) return;
    last_ = percent;
    constexpr int kColumns = 30;
    const int filled = percent * kColumns / 100;
    errors_ << "\rreading events [" << std::string(static_cast<std::size_t>(filled), '#')
            << std::string(static_cast<std::size_t>(kColumns - filled), ' ') << "] " << percent
            << " %" << std::flush;
  }

 private:
  std::ostream& errors_;
  bool shown_;
  int last_ = -1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

int report_command(const ReportOptions& options, std::ostream& out, std::ostream& errors) {
  const auto fail = [&](const load::LoadError& error) {
    errors << "hitchtrace: " << options.trace << " " << error.sentence() << '\n';
    return 1;
  };
  auto source = load::open_file(options.trace);
  if (!source) return fail(source.error());
  auto reader = load::TraceReader::open(*source);
  if (!reader) return fail(reader.error());
  analyse::Report report;
  report.trace = model::load_trace(*reader);
  SiteNamer namer(report.trace, options.symbols, options.debuginfod);
  model::group_sites(report.trace, namer.grouping(options.group, options.skip));
  {
    ProgressLine progress(errors, isatty(STDERR_FILENO) != 0 && &errors == &std::cerr);
    analyse::fill_report(report, *reader, {options.budget_ms, options.hitch_ms, options.hitch_mad},
                         {options.top, options.lifetimes && !options.summary,
                          [&](std::uint64_t done, std::uint64_t all) { progress.at(done, all); }});
  }
  render::SiteNames names(report.trace, namer.function());
  if (options.json) {
    render::json_report(report, options.trace, options.top, names, out);
  } else if (options.summary) {
    out << render::summary_text(report, options.trace, style_for(options, out), names);
  } else {
    out << render::text_report(report, options.trace, style_for(options, out), options.top, names);
  }
  out.flush();
  for (const std::string& warning : report.trace.warnings) {
    errors << "hitchtrace: warning: " << warning << '\n';
  }
  for (const std::string& note : namer.notes()) errors << "hitchtrace: note: " << note << '\n';
  return 0;
}

}  // namespace hitch::app
