#include "viewer/render/cause_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "viewer/render/fault_text.h"
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

// "worker 2 spent est. 7.40 ms in 1,900 page faults first-touching 7.42 MiB from load_terrain and
// others 0.2 ms in the allocator": inside the presenting thread's time off the CPU.
std::string meanwhile_text(const Report& report, const Hitch& hitch, SiteNames& names) {
  std::string text;
  const analyse::FaultGroup* group = nullptr;
  for (const analyse::FaultGroup& candidate : hitch.faults.others) {
    if (group == nullptr || candidate.waited_faults > group->waited_faults) group = &candidate;
  }
  const auto faults = static_cast<double>(hitch.others.waited_faults);
  if (group != nullptr && group->waited_faults > 0) {
    text = group->threads == 1 && group->thread ? names.thread(*group->thread) : "other threads";
    text += " spent est. " + duration_text(faults * report.measures.fault_price_ns) + " in " +
            faults_text(hitch.others.waited_faults) + ", most of them " +
            fault_what(*group, names, report.trace);
  }
  if (hitch.others.waited_allocator_ns >= 0.05 * hitch.excess_ns) {
    if (!text.empty()) text += " and ";
    text += duration_text(hitch.others.waited_allocator_ns) +
            " passed inside the allocator on other threads";
  }
  return text;
}

// "1,900 page faults (est. 7.4 ms) and 0.2 ms in the allocator (worker-2 0.2 ms)"
std::string others_text(const Report& report, const Hitch& hitch, SiteNames& names) {
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

constexpr auto kByCount = [](const auto& a, const auto& b) { return a.second < b.second; };

// Where a thread's samples of a frame lie.
struct CodeTally {
  std::uint64_t all = 0;
  std::string module;  // that most of them lie in
  std::uint64_t in_module = 0;
  std::string function;  // of all modules, that most of them lie in; empty: not of that module
  std::uint64_t in_function = 0;
};

CodeTally tally_of(const Report& report, model::FrameId frame, model::ThreadId thread,
                   const char* no_module, SiteNames& names) {
  CodeTally tally;
  std::map<std::string, std::uint64_t> modules;
  std::map<std::pair<std::string, std::string>, std::uint64_t> functions;
  for (const model::CodeSample& row : report.trace.samples_of(frame)) {
    if (row.thread != thread) continue;
    const Name& name = names.place(row.place);
    const std::string module = name.module.empty() ? no_module : name.module;
    modules[module] += row.samples;
    functions[{module, name.function}] += row.samples;
    tally.all += row.samples;
  }
  if (tally.all == 0) return tally;
  std::tie(tally.module, tally.in_module) =
      *std::max_element(modules.begin(), modules.end(), kByCount);
  const auto function = std::max_element(functions.begin(), functions.end(), kByCount);
  if (function->first.first == tally.module) {
    tally.function = function->first.second;
    tally.in_function = function->second;
  }
  return tally;
}

std::string samples_text(const CodeTally& tally) {
  return count_text(tally.in_module) + " of " + count_text(tally.all) + " samples in " +
         tally.module;
}

// Who computed while the presenting thread waited, and what: "worker 2 computed: 9 of 11 samples in
// libfoo.so"; a collection when that is a managed run-time. Empty without samples of others.
std::string busy_text(const Report& report, const Hitch& hitch, SiteNames& names) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  std::map<model::ThreadId, std::uint64_t> sums;
  for (const model::CodeSample& row : report.trace.samples_of(hitch.frame)) {
    if (!frame.thread || row.thread != *frame.thread) sums[row.thread] += row.samples;
  }
  const auto busiest = std::max_element(sums.begin(), sums.end(), kByCount);
  if (busiest == sums.end() || busiest->second < 2) return "";
  const CodeTally tally =
      tally_of(report, hitch.frame, busiest->first, "code in no module (JIT?)", names);
  std::string text = names.thread(busiest->first) + " computed: " + samples_text(tally);
  for (const analyse::ManagedHeap& heap : report.managed_heaps) {
    if (heap.module == tally.module && sums.size() == 1)
      text += ", and no other thread ran: a suspected collection of " + heap.runtime;
  }
  return text;
}

std::string waiting_text(const Report& report, const Hitch& hitch, const Cause& cause,
                         const std::string& share, SiteNames& names) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  std::string text = "waited " + duration_text(cause.excess_ns) + " longer than usual" + share;
  const bool memory_elsewhere = hitch.others_excess_ns(report.measures) >= 0.2 * cause.excess_ns;
  const bool known = report.measures.switches_known;
  const double taken = hitch.balance.taken - hitch.usual.taken;
  const double foreign = hitch.balance.preempted - hitch.usual.preempted - taken;
  const bool preempted =
      known ? foreign >= 0.5 * cause.excess_ns : frame.involuntary > frame.voluntary;
  if (frame.major_faults > 0) {
    text += ", reading " + count_text(frame.major_faults) +
            (frame.major_faults == 1 ? " page" : " pages") + " from files (major faults)";
    for (const analyse::FaultGroup& group : hitch.faults.own) {
      if (group.kind() != format::FaultKind::kMajor) continue;
      text += ": " + fault_what(group, names, report.trace);
      break;
    }
  }
  if (memory_elsewhere) {
    const std::string meanwhile = known ? meanwhile_text(report, hitch, names) : "";
    text += meanwhile.empty() ? " while the other threads took " + others_text(report, hitch, names)
                              : " while " + meanwhile;
  } else if (preempted && known) {
    text += ": other processes had the CPU for " + duration_text(foreign) +
            " while it was ready to run";
  } else if (preempted) {
    text += ", preempted " + count_text(frame.involuntary) +
            (frame.involuntary == 1 ? " time" : " times") + ": others had the CPU";
  } else if (frame.major_faults == 0) {
    const std::string busy = known ? busy_text(report, hitch, names) : "";
    text += known ? ": not memory (meanwhile the other threads: " +
                        faults_text(hitch.others.waited_faults) + " and " +
                        duration_text(hitch.others.waited_allocator_ns) + " in the allocator" +
                        (busy.empty() ? ")" : "; " + busy + ")")
                  : " (the other threads: " + others_text(report, hitch, names) +
                        "): not memory, as far as this trace knows";
  }
  if (known && taken >= 0.2 * cause.excess_ns) {
    text += "; for " + duration_text(taken) +
            " of it threads of the game itself had its CPU: more of them ran than there are cores";
  }
  if (known && !preempted && foreign >= 0.2 * cause.excess_ns) {
    text += "; for " + duration_text(foreign) + " of it other processes had the CPU";
  } else if (!known && !preempted &&
             static_cast<double>(frame.involuntary) > hitch.usual_involuntary) {
    text += "; preempted " + count_text(frame.involuntary) +
            (frame.involuntary == 1 ? " time" : " times") + " meanwhile";
  }
  return text;
}

// "9 of 11 samples in libLLVM-14.so, most of them in llvm::Foo::run"; empty without samples.
std::string code_text(const Report& report, const Hitch& hitch, SiteNames& names) {
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  if (!frame.thread) return "";
  const CodeTally tally = tally_of(report, hitch.frame, *frame.thread, "code in no module", names);
  if (tally.all < 2) return "";
  std::string text = samples_text(tally);
  if (!tally.function.empty() && tally.in_function * 2 >= tally.in_module)
    text += ", most of them in " + tally.function;
  return text;
}

std::string part_clause(const Report& report, const Hitch& hitch, const Cause& cause,
                        SiteNames& names) {
  const std::string more = duration_text(cause.excess_ns);
  const std::string share = " (" + percent_text(cause.share) + " of the excess)";
  const model::Frame& frame = report.trace.frames[hitch.frame.index()];
  switch (cause.part) {
    case Part::kAllocator: {
      std::string text = "the allocator took " + more + " more than usual" + share;
      const double preempted = hitch.balance.preempted_in_allocator;
      const double blocked = hitch.balance.blocked_in_allocator - preempted;
      const double faulting = hitch.balance.faults_in_allocator;
      const double contended = hitch.balance.contention - hitch.usual.contention;
      if (faulting >= 0.2 * cause.excess_ns) {
        text += ", " + duration_text(std::min(faulting, cause.excess_ns)) +
                " of it (est.) in page faults inside its calls";
      }
      if (blocked >= 0.2 * cause.excess_ns) {
        text += ", " + duration_text(std::min(blocked, cause.excess_ns)) + " of it off the CPU: " +
                (report.measures.switches_known ? "a contended lock"
                                                : "a contended lock or the kernel");
      } else if (contended >= 0.2 * cause.excess_ns) {
        text += ", " + duration_text(std::min(contended, cause.excess_ns)) +
                " of it because other threads were in the allocator too (contention)";
      }
      if (preempted >= 0.2 * cause.excess_ns) {
        text += ", " + duration_text(std::min(preempted, cause.excess_ns)) +
                " of it preempted: others had the CPU";
      }
      return text;
    }
    case Part::kFaults:
      if (const analyse::FaultGroup* group = main_group(hitch.faults.own); group != nullptr) {
        std::string text = fault_group_text(*group, names, report.trace) + share;
        if (group->place && group->place_faults * 2 >= group->faults)
          text += ", touched by " + names.place(*group->place).function;
        if (hitch.faults.unseen * 4 > hitch.faults.seen && report.measures.faults_seen)
          text += "; " + count_text(hitch.faults.unseen) + " more inside system calls";
        return text;
      }
      if (report.measures.faults_seen && hitch.faults.unseen > hitch.faults.seen) {
        return "page faults took about " + more + " more than usual" + share + ": " +
               count_text(hitch.faults.unseen) +
               " of them inside system calls, where they are only counted";
      }
      return "page faults took about " + more + " more than usual" + share + ": " +
             faults_text(frame.minor_faults) + " against " + count_text(hitch.usual_faults) +
             ", time estimated";
    case Part::kWaiting:
      return waiting_text(report, hitch, cause, share, names);
    case Part::kRest: {
      const std::string code = code_text(report, hitch, names);
      std::string text = "computed " + more + " longer outside the allocator" + share;
      if (!code.empty()) text += ": " + code;
      if (!cause.partly()) {
        text += code.empty() ? ": not memory" : "; not memory";
        if (!report.measures.switches_known)
          text += " (the other threads: " + others_text(report, hitch, names) + ")";
      }
      return text;
    }
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

std::string partly_clause(const Report& report, const Hitch& hitch, const Cause& cause,
                          SiteNames& names) {
  std::string text = "partly ";
  text += part_label(cause.part);
  text += " (";
  if (cause.part == Part::kFaults) {
    text += report.measures.fault_price_ns > 0 ? "est. " : "";
  }
  text += "+" + duration_text(cause.excess_ns) + ", " + percent_text(cause.share) + ")";
  if (cause.part != Part::kFaults) return text;
  const analyse::FaultGroup* group = main_group(hitch.faults.own);
  return group != nullptr ? text + " " + fault_what(*group, names, report.trace) : text;
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

std::string cause_sentence(const Report& report, const Hitch& hitch, SiteNames& names) {
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
      add(cause.partly() ? partly_clause(report, hitch, cause, names)
                         : part_clause(report, hitch, cause, names),
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

std::string try_text(const Report& report, const Hitch& hitch, SiteNames& names) {
  const auto pattern = report.patterns.of_hitch.find(hitch.frame);
  if (pattern != report.patterns.of_hitch.end() &&
      pattern->second.kind == analyse::PatternKind::kFirstTime)
    return "run this code once, or create what it needs, while loading";
  switch (hitch.verdict) {
    case Verdict::kAllocator:
      if ((hitch.balance.blocked_in_allocator - hitch.balance.preempted_in_allocator) * 2 >=
          hitch.balance[Part::kAllocator])
        return "allocate less at the same time on several threads, or give each its own pool";
      if (static_cast<double>(hitch.sums.allocs) >= 3 * hitch.usual_allocs)
        return "reserve, reuse or batch what these call sites allocate; an arena that is reset "
               "each "
               "frame";
      return "keep the slow call out of the frame: allocate while loading, or reuse the block";
    case Verdict::kFaults:
      if (const analyse::FaultGroup* group = main_group(hitch.faults.own); group != nullptr)
        return fault_remedy(*group, report, names);
      return "touch fresh memory while loading, or reuse it";
    case Verdict::kMemory:
      return "allocate and touch this memory while loading, or reuse it";
    case Verdict::kWaitingOnMemory:
      for (const analyse::FaultGroup& group : hitch.faults.others) {
        if (group.waited_faults > 0) return fault_remedy(group, report, names);
      }
      return "let the worker allocate ahead of the frame that waits for it";
    case Verdict::kWaitingOnFiles:
      return "read these files while loading (readahead, MAP_POPULATE)";
    case Verdict::kWaiting:
      return "find the lock or job it waited for: a timeline profiler with lock events (Tracy), or "
             "perf sched";
    case Verdict::kPreempted:
      return "run fewer busy threads than the machine has cores, or raise the game's priority";
    case Verdict::kPresentBlocked:
      return "look at the GPU (RenderDoc, the driver's profiler); if vsync is on, a missed "
             "deadline "
             "costs a whole interval";
    case Verdict::kPresentBusy:
      return "create shaders and pipelines while loading; look at the driver's work with perf";
    case Verdict::kSleep:
      return "let the limiter wake earlier and spin for the rest";
    case Verdict::kNotMemory:
      return "profile the code named above; this is no work for an allocator";
    case Verdict::kMixed:
    case Verdict::kUsualSlow:
      break;
  }
  return "";
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
