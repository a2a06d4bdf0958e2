#include "viewer/render/cause_text.h"

#include <algorithm>
#include <array>

#include "viewer/render/units.h"

namespace hitch::render {
namespace {

using analyse::Cause;
using analyse::Hitch;
using analyse::Part;
using analyse::Report;
using analyse::Verdict;

std::string faults_text(std::uint64_t count) {
  return count_text(count) + (count == 1 ? " page fault" : " page faults");
}

std::string estimate_text(const Report& report, double count) {
  if (report.measures.fault_price_ns <= 0) return "price not measured";
  return "est. " + duration_text(count * report.measures.fault_price_ns);
}

// "1,900 page faults (est. 7.4 ms) and 0.2 ms in the allocator (worker-2 0.2 ms)"
std::string others_text(const Report& report, const Hitch& hitch, const SiteNames& names) {
  std::string text = faults_text(hitch.others.faults);
  if (hitch.others.faults > 0) {
    text += " (" + estimate_text(report, static_cast<double>(hitch.others.faults)) + ")";
  }
  if (!report.measures.calls_timed) {
    return text + " and " + count_text(hitch.others.allocs) + " allocations (not timed)";
  }
  text += " and " + duration_text(hitch.others.allocator_ns) + " in the allocator";
  std::string who;
  for (const analyse::OtherThread& other : hitch.busiest_others) {
    if (other.allocator_ns < 0.1 * hitch.others.allocator_ns) continue;
    if (!who.empty()) who += ", ";
    who += names.thread(other.thread) + " " + duration_text(other.allocator_ns);
  }
  return who.empty() ? text : text + " (" + who + ")";
}

std::string waiting_text(const Report& report, const Hitch& hitch, const Cause& cause,
                         const std::string& share, const SiteNames& names) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  std::string text = "waited " + duration_text(cause.excess_ns) + " longer than usual" + share;
  const bool memory_elsewhere = hitch.others_excess_ns(report.measures) >= 0.2 * cause.excess_ns;
  const bool preempted = frame.involuntary > frame.voluntary;
  if (frame.major_faults > 0) {
    text += ", reading " + count_text(frame.major_faults) +
            (frame.major_faults == 1 ? " page" : " pages") + " from files (major faults)";
  }
  if (memory_elsewhere) {
    text += " while the other threads took " + others_text(report, hitch, names);
  } else if (preempted) {
    text += ", preempted " + count_text(frame.involuntary) +
            (frame.involuntary == 1 ? " time" : " times") + ": others had the CPU";
  } else if (frame.major_faults == 0) {
    text += " (the other threads: " + others_text(report, hitch, names) +
            "): not memory, as far as this trace knows";
  }
  if (!preempted && static_cast<double>(frame.involuntary) > hitch.usual_involuntary) {
    text += "; preempted " + count_text(frame.involuntary) +
            (frame.involuntary == 1 ? " time" : " times") + " meanwhile";
  }
  return text;
}

std::string part_clause(const Report& report, const Hitch& hitch, const Cause& cause,
                        const SiteNames& names) {
  const std::string more = duration_text(cause.excess_ns);
  const std::string share = " (" + percent_text(cause.share) + " of the excess)";
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  switch (cause.part) {
    case Part::kAllocator: {
      std::string text = "the allocator took " + more + " more than usual" + share;
      const double blocked = hitch.balance.blocked_in_allocator;
      if (blocked >= 0.2 * cause.excess_ns) {
        text += ", " + duration_text(std::min(blocked, cause.excess_ns)) +
                " of it off the CPU: a contended lock or the kernel";
      }
      return text;
    }
    case Part::kFaults:
      return "page faults took about " + more + " more than usual" + share + ": " +
             faults_text(frame.minor_faults) + " against " + count_text(hitch.usual_faults) +
             ", time estimated";
    case Part::kWaiting:
      return waiting_text(report, hitch, cause, share, names);
    case Part::kRest:
      return "computed " + more + " longer outside the allocator" + share +
             (cause.partly()
                  ? ""
                  : ": not memory (the other threads: " + others_text(report, hitch, names) + ")");
    case Part::kPresent:
      if (hitch.verdict == Verdict::kPresentBusy) {
        return "the present call computed " + more + " longer" + share + ": the graphics driver";
      }
      return "blocked " + more + " longer inside present" + share +
             ": probably bound by GPU or vsync" +
             (static_cast<double>(frame.involuntary) > hitch.usual_involuntary
                  ? ", or the CPU was taken away (preempted " + count_text(frame.involuntary) +
                        (frame.involuntary == 1 ? " time)" : " times)")
                  : "");
    case Part::kSleep:
      return "the frame limiter slept " + more + " longer" + share;
  }
  return "";
}

std::string partly_clause(const Report& report, const Cause& cause) {
  std::string text = "partly ";
  text += part_label(cause.part);
  text += " (";
  if (cause.part == Part::kFaults) {
    text += report.measures.fault_price_ns > 0 ? "est. " : "";
  }
  return text + "+" + duration_text(cause.excess_ns) + ", " + percent_text(cause.share) + ")";
}

std::string coincidence_clause(const analyse::Coincidence& coincidence) {
  static constexpr std::array<const char*, 3> kWhat = {"allocations", "page faults",
                                                       "mmap calls of the game"};
  return "coincides with " + count_text(coincidence.value) + " " +
         kWhat[static_cast<std::size_t>(coincidence.count)] + " (usually " +
         count_text(coincidence.usual) + ")";
}

}  // namespace

const char* verdict_label(Verdict verdict) {
  static constexpr std::array<const char*, analyse::kVerdicts> kLabels = {
      "allocator",
      "page faults",
      "allocator and page faults",
      "waiting: memory elsewhere",
      "waiting for files",
      "waiting",
      "preempted",
      "GPU or vsync",
      "graphics driver",
      "frame limiter",
      "not memory",
      "mixed",
      "over budget as usual"};
  return kLabels[static_cast<std::size_t>(verdict)];
}

const char* part_label(Part part) {
  static constexpr std::array<const char*, analyse::kParts> kLabels = {
      "allocator", "page faults", "waiting", "the rest", "present", "limiter sleep"};
  return kLabels[analyse::part_index(part)];
}

std::string cause_sentence(const Report& report, const Hitch& hitch, const SiteNames& names) {
  std::string text;
  const auto add = [&](const std::string& clause, const char* joint) {
    if (!text.empty()) text += joint;
    text += clause;
  };
  if (hitch.verdict == Verdict::kUsualSlow) {
    add("over the budget by " + duration_text(hitch.over_budget_ns) +
            ", as the frames around it usually are (" + duration_text(hitch.usual.wall) + ")",
        "");
  } else {
    for (const Cause& cause : hitch.causes) {
      add(cause.partly() ? partly_clause(report, cause) : part_clause(report, hitch, cause, names),
          "; ");
    }
    if (hitch.causes.empty()) add("the excess is spread over many small parts", "");
    if (hitch.verdict == Verdict::kMemory) add("together more than half of the excess", "; ");
    const bool memory_elsewhere = hitch.others_excess_ns(report.measures) >= 0.2 * hitch.excess_ns;
    if (memory_elsewhere && (hitch.verdict == Verdict::kMixed)) {
      add("meanwhile the other threads took " + others_text(report, hitch, names), "; ");
    }
  }
  for (const analyse::Coincidence& coincidence : hitch.coincidences) {
    add(coincidence_clause(coincidence), "; ");
  }
  const double late = hitch.balance[Part::kPresent] - hitch.usual[Part::kPresent];
  if (hitch.by_work && hitch.kind == analyse::HitchKind::kWall &&
      late >= 0.2 * hitch.wall_excess_ns) {
    add("the late picture then waited " + duration_text(late) + " longer in present", "; ");
  }
  if (!hitch.balance.counters_known) {
    add("waiting and page faults of this frame are not known", "; ");
  }
  if (!report.measures.calls_timed) add("calls were not timed: allocator time is not known", "; ");
  return text;
}

std::string verdict_counts(const std::vector<Hitch>& hitches) {
  std::array<std::pair<std::size_t, std::size_t>, analyse::kVerdicts> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = {0, i};
  for (const Hitch& hitch : hitches) ++counts[static_cast<std::size_t>(hitch.verdict)].first;
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, verdict] : counts) {
    if (count == 0) break;
    if (!text.empty()) text += ", ";
    text += verdict_label(static_cast<Verdict>(verdict));
    text += " " + count_text(static_cast<std::uint64_t>(count));
  }
  return text;
}

}  // namespace hitch::render
