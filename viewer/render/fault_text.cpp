#include "viewer/render/fault_text.h"

#include <algorithm>
#include <array>
#include <map>

#include "viewer/analyse/fault_price.h"
#include "viewer/render/report_pieces.h"
#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::FaultGroup;
using analyse::Report;
using format::FaultKind;
using format::FaultOwner;

std::string function_text(const Name& name) {
  return name.function + (name.place.empty() ? "" : " (" + name.place + ")");
}

// "2.00 MiB from Texture::load (texture.cpp:88)", "its stack", "pages of libfoo.so".
std::string owner_text(const FaultGroup& group, SiteNames& names, const model::Trace& trace) {
  const std::string bytes = bytes_text(group.bytes);
  switch (group.owner) {
    case FaultOwner::kBlock:
      return bytes + " from " +
             function_text(names.site(model::SiteId(static_cast<std::size_t>(group.id))));
    case FaultOwner::kAllocator:
      return bytes + " of the heap itself, for " +
             function_text(names.site(model::SiteId(static_cast<std::size_t>(group.id))));
    case FaultOwner::kStack:
      return bytes + " of stack";
    case FaultOwner::kFile:
      return "pages of the mapped file " + printable(trace.text(group.id));
    case FaultOwner::kModule:
      return "code or data of " +
             printable(file_name(trace.modules[static_cast<std::size_t>(group.id)].path));
    case FaultOwner::kShim:
      return "hitchtrace's own memory";
    case FaultOwner::kMapping:
      if (group.id != 0) {
        return bytes + " that the game mapped itself in " +
               function_text(names.site(model::SiteId(static_cast<std::size_t>(group.id - 1))));
      }
      return bytes + " of memory in no block that is known";
    case FaultOwner::kUnknown:
      break;
  }
  return bytes + " that was unmapped again";
}

const char* verb(FaultKind kind) {
  switch (kind) {
    case FaultKind::kFirstTouch:
      return "first-touching ";
    case FaultKind::kRecycled:
      return "touching again, after the kernel had them back, ";
    case FaultKind::kAgain:
      return "touching again ";
    case FaultKind::kCopyOnWrite:
      return "copying, because the process had forked, ";
    case FaultKind::kMajor:
      return "reading from disk ";
    case FaultKind::kHugePage:
      return "first-touching in huge pages ";
  }
  return "";
}

// What a row of the table of owners is about, in at most `room` columns.
std::string owner_name(const FaultGroup& group, SiteNames& names, const model::Trace& trace,
                       std::size_t room) {
  const auto of_site = [&](const char* before, std::uint64_t id) {
    const Name& name = names.site(model::SiteId(static_cast<std::size_t>(id)));
    const std::string text = before + name.function;
    const std::string place = " (" + name.place + ")";
    const bool fits = !name.place.empty() && columns_of(text) + columns_of(place) <= room;
    return fits ? text + place : text;
  };
  std::string text;
  switch (group.owner) {
    case FaultOwner::kBlock:
      return fit(of_site("", group.id), room);
    case FaultOwner::kAllocator:
      return fit(of_site("(heap) ", group.id), room);
    case FaultOwner::kStack:
      return "(stacks)";
    case FaultOwner::kFile:
      text = "(file) " + printable(file_name(trace.text(group.id)));
      break;
    case FaultOwner::kModule:
      text =
          "(code) " + printable(file_name(trace.modules[static_cast<std::size_t>(group.id)].path));
      break;
    case FaultOwner::kShim:
      text = "(hitchtrace)";
      break;
    case FaultOwner::kMapping:
      if (group.id != 0) return fit(of_site("(mmap) ", group.id - 1), room);
      text = "(in no known block)";
      break;
    case FaultOwner::kUnknown:
      text = "(unmapped again)";
      break;
  }
  return fit(text, room);
}

void write_owners(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  page.line(page.paint(Ink::kDim, pad_left("est.", 11) + pad_left("faults", 10) +
                                      pad_left("in calls", 10) + pad_left("touched", 11) +
                                      pad_left("age", 9) + "  memory of"));
  const std::size_t shown =
      top == 0 ? report.fault_owners.size() : std::min(top, report.fault_owners.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const FaultGroup& group = report.fault_owners[i];
    const bool block = group.owner == FaultOwner::kBlock;
    std::string age = "-";
    if (block && report.stats.frames > 0)
      age = group.mean_age_frames < 0.5 ? "at once" : count_text(group.mean_age_frames) + " fr";
    const std::string numbers = pad_left(duration_text(group.est_ns), 11) +
                                pad_left(count_text(group.faults), 10) +
                                pad_left(count_text(group.call_faults), 10) +
                                pad_left(bytes_text(group.bytes), 11) + pad_left(age, 9) + "  ";
    page.line(numbers + owner_name(group, names, report.trace,
                                   page.width() - std::min(page.width(), columns_of(numbers))));
  }
}

// Functions that touched, however many instructions of them did.
void write_places(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  std::map<std::string, std::uint64_t> functions;
  std::uint64_t known = 0;
  for (const model::FrameFault& row : report.trace.faults) {
    if (!row.place || row.owner == FaultOwner::kShim) continue;
    const Name& name = names.place(*row.place);
    std::string text = name.function;
    if (!name.module.empty() && text.find(name.module) == std::string::npos)
      text += "  " + name.module;
    functions[text] += row.faults;
    known += row.faults;
  }
  if (known == 0) return;
  std::vector<std::pair<std::string, std::uint64_t>> ranked(functions.begin(), functions.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  page.line(page.paint(Ink::kDim, pad_left("share", 11) + pad_left("faults", 10) + "  touched by"));
  const std::size_t shown = top == 0 ? ranked.size() : std::min(top, ranked.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string numbers =
        pad_left(percent_text(static_cast<double>(ranked[i].second) / static_cast<double>(known)),
                 11) +
        pad_left(count_text(ranked[i].second), 10) + "  ";
    page.line(numbers + fit(ranked[i].first, page.width() - columns_of(numbers)));
  }
}

void write_churn(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  if (report.churn.empty()) return;
  page.heading("MMAP CHURN", "large buffers given back to the kernel at each release");
  const std::size_t shown = top == 0 ? report.churn.size() : std::min(top, report.churn.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyse::Churn& churn = report.churn[i];
    page.wrap(2, 4,
              function_text(names.site(churn.site)) + ": " +
                  plural(churn.allocs, "allocation", "allocations") + ", " +
                  plural(churn.unmaps, "munmap", "munmaps") + ", " +
                  plural(churn.faults, "page fault", "page faults") + " (est. " +
                  duration_text(churn.est_ns) + ", which keeping the memory would save).");
  }
  page.wrap(2, 4,
            "Try: keep the buffer and use it again, or an arena. Without touching the code, with "
            "glibc: GLIBC_TUNABLES=glibc.malloc.mmap_threshold=33554432 (M_MMAP_THRESHOLD, at most "
            "32 MiB), and against trimming of the heap "
            ":glibc.malloc.trim_threshold=268435456 behind it (M_TRIM_THRESHOLD).");
}

std::string price_text(const Report& report) {
  static constexpr std::array<const char*, format::kFaultPriceClasses> kNames = {
      "a fresh page", "pages of a file", "a copied page", "a huge page"};
  std::string text;
  for (std::size_t number = 0; number < kNames.size(); ++number) {
    const analyse::FaultPrice price =
        analyse::fault_price(report.trace, static_cast<format::FaultPriceClass>(number));
    if (!price.at_start_ns && !price.in_game_ns) continue;
    if (!text.empty()) text += "; ";
    text += kNames[number];
    if (price.at_start_ns) text += " " + duration_text(*price.at_start_ns) + " at start";
    if (price.in_game_ns) {
      text += (price.at_start_ns ? ", " : " ") + duration_text(*price.in_game_ns) +
              " in the game (" + count_text(price.in_game_faults) + " measured)";
    }
  }
  return text;
}

}  // namespace

std::string fault_group_text(const FaultGroup& group, SiteNames& names, const model::Trace& trace) {
  return plural(group.faults, "page fault", "page faults") + " (est. " +
         duration_text(group.est_ns) + ") " + fault_what(group, names, trace);
}

std::string fault_what(const FaultGroup& group, SiteNames& names, const model::Trace& trace) {
  return verb(group.kind()) + owner_text(group, names, trace);
}

const FaultGroup* main_group(const std::vector<FaultGroup>& groups) {
  constexpr double kGoodPart = 0.3;
  double all = 0;
  for (const FaultGroup& group : groups) all += group.est_ns;
  if (groups.empty() || groups.front().est_ns < kGoodPart * all) return nullptr;
  return &groups.front();
}

std::string fault_remedy(const FaultGroup& group, const Report& report, SiteNames& names) {
  switch (group.owner) {
    case FaultOwner::kBlock: {
      const auto site = model::SiteId(static_cast<std::size_t>(group.id));
      const bool churns =
          std::any_of(report.churn.begin(), report.churn.end(),
                      [site](const analyse::Churn& churn) { return churn.site == site; });
      const std::string& function = names.site(site).function;
      if (churns || group.kind() == FaultKind::kRecycled)
        return "keep the buffer of " + function + " and use it again: see MMAP CHURN";
      if (group.kind() == FaultKind::kCopyOnWrite)
        return "fork before the game is large, or use vfork/posix_spawn";
      return "allocate and touch the memory of " + function +
             " while loading or on another thread, or reuse one buffer";
    }
    case FaultOwner::kAllocator:
      return "reserve the heap's growth early (M_TOP_PAD), or reuse memory";
    case FaultOwner::kFile:
    case FaultOwner::kModule:
      return group.kind() == FaultKind::kMajor
                 ? "read the file while loading (readahead, MAP_POPULATE)"
                 : "touch these pages while loading: run the code path once";
    case FaultOwner::kStack:
      return "large arrays on the stack: make them smaller, or touch the stack once at start";
    default:
      return "find who maps this memory: the functions that touched it are listed under PAGE "
             "FAULTS";
  }
}

std::string fault_source_text(const Report& report) {
  const model::Trace& trace = report.trace;
  const std::string source = trace.fact("faults.source", "getrusage");
  std::string text;
  if (source == "perf_event") {
    text = "Page faults: every one was seen (perf events" +
           std::string(trace.fact("faults.in_system_calls") == "1"
                           ? ", also inside system calls)"
                           : "; those inside system calls are only counted)");
    if (report.measures.fault_capture_ns > 0)
      text += "; recording adds " + duration_text(report.measures.fault_capture_ns) +
              " to each, which is in all figures";
  } else if (source == "pagemap") {
    text =
        "Page faults: only first touches of blocks of 32 KiB and more were seen (pagemap); not "
        "seen: smaller blocks, blocks that lived less than about 2 ms, who touched them, when "
        "threads were off the CPU";
  } else if (source == "none") {
    text = "Page faults: not looked at (--faults none)";
  } else {
    text =
        "Page faults: counted per frame alone (getrusage); not known: whose memory, and when "
        "threads were off the CPU";
  }
  const std::string prices = price_text(report);
  if (!prices.empty()) text += ". One takes (median): " + prices;
  text += ".";
  const std::string note = fault_note_text(report);
  return note.empty() ? text : text + " " + note;
}

std::string fault_note_text(const Report& report) {
  const std::string note = printable(report.trace.fact("faults.note"));
  if (note.empty()) return "";
  const bool some = report.measures.owners_seen;
  return std::string("Page faults one by one could not be had, ") +
         (some ? "only first touches of large blocks: " : "only their counts: ") + note + ".";
}

void write_faults(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  if (report.fault_owners.empty()) return;
  const analyse::FaultTotals& totals = report.fault_totals;
  page.heading("PAGE FAULTS", "by whose memory was touched, whole run");
  if (report.measures.faults_seen) {
    std::string text = count_text(totals.seen - totals.own) + " of the game, " +
                       count_text(totals.in_calls) + " of them inside allocator calls";
    if (totals.in_system_calls > 0)
      text += ", " + count_text(totals.in_system_calls) + " inside system calls";
    const std::uint64_t unseen = totals.counted - std::min(totals.counted, totals.seen_in_those);
    text += "; of the presenting thread's " + count_text(totals.counted) + " in frames " +
            count_text(unseen) + " were taken inside system calls and not seen";
    text += "; hitchtrace's own: " + count_text(totals.own);
    if (totals.own > 0)
      text +=
          ", after a thread's start at most " + count_text(totals.most_own_later) + " of any one";
    page.wrap(2, 2, text + ".");
    if (totals.lost > 0)
      page.wrap(2, 2,
                page.paint(Ink::kYellow, count_text(totals.lost) +
                                             " records of the kernel found no room and are missing "
                                             "here") +
                    "; frames' counts are not touched.");
  }
  write_owners(page, report, top, names);
  write_places(page, report, (top + 1) / 2, names);
  write_churn(page, report, (top + 1) / 2, names);
}

void write_contention(Page& page, const Report& report, std::size_t top, SiteNames& names) {
  constexpr double kVisible = 0.002;  // of a thread's time in the allocator
  constexpr double kLeastNs = 50e3;
  std::vector<const analyse::ThreadContention*> shown;
  for (const analyse::ThreadContention& thread : report.contention) {
    if (thread.lost_ns() >= kLeastNs && thread.lost_ns() >= kVisible * thread.allocator_ns)
      shown.push_back(&thread);
  }
  if (shown.empty()) return;
  page.heading("CONTENTION", "in the allocator, by thread, whole run");
  page.line(page.paint(Ink::kDim, pad_left("off CPU", 11) + pad_left("calls", 9) +
                                      pad_left("overlap", 11) + pad_left("calls", 10) +
                                      pad_left("of", 10) + "  thread"));
  for (std::size_t i = 0; i < shown.size() && (top == 0 || i < top); ++i) {
    const analyse::ThreadContention& thread = *shown[i];
    const std::string numbers = pad_left(duration_text(thread.blocked_ns), 11) +
                                pad_left(count_text(thread.blocked_calls), 9) +
                                pad_left(duration_text(thread.overlap_ns), 11) +
                                pad_left(count_text(thread.overlap_calls), 10) +
                                pad_left(duration_text(thread.allocator_ns), 10) + "  ";
    page.line(numbers + fit(names.thread(thread.thread), page.width() - columns_of(numbers)));
  }
  page.wrap(
      2, 2,
      page.paint(Ink::kDim,
                 "off CPU: calls that gave up the CPU, waiting for a lock; overlap: what calls "
                 "that overlapped another thread's took beyond those of the same site and "
                 "size that overlapped none"));
}

}  // namespace hitch::render
