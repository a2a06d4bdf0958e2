// Nanoseconds a callstack costs, by who captures it and how deep it is, on code without frame
// pointers:
//
//   repeated   the same stack again and again: ours compares the previous one
//   known      the stack is walked, all rules are known
//   tree       a random call tree of 32 functions with 4 call sites each, the same every round: a
//              few entries differ from one capture to the next
//
// All methods take turns in each round; medians and the spread of the rounds are printed.
//
//   stack_bench [--rounds N]
#include <dlfcn.h>
#include <execinfo.h>
#include <x86intrin.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "unwind/cfi.h"
#include "unwind/code_map.h"
#include "unwind/walker.h"

namespace {

using hitch::unwind::StackMemo;

enum Method { kEmpty, kWarm, kKnown, kUnwBacktrace, kGlibcBacktrace, kMethods };
constexpr const char* kNames[kMethods] = {"empty hook", "ours, re-validated", "ours, rule walk",
                                          "unw_backtrace", "glibc backtrace"};
constexpr unsigned kDepth = 100;

StackMemo g_memo;
Method g_method = kEmpty;
unsigned g_entries = 0;
void* g_buffer[256];
int (*g_unw_backtrace)(void**, int) = nullptr;

// Stands for a hook: entered by a call from code without frame pointers.
[[gnu::noinline]] void capture() {
  const auto* entry = static_cast<const std::uintptr_t*>(__builtin_frame_address(0));
  switch (g_method) {
    case kWarm:
      hitch::unwind::walk(g_memo, reinterpret_cast<std::uintptr_t>(entry + 1), entry[0], kDepth);
      g_entries = g_memo.count;
      break;
    case kKnown:
      g_memo.forget();
      hitch::unwind::walk(g_memo, reinterpret_cast<std::uintptr_t>(entry + 1), entry[0], kDepth);
      g_entries = g_memo.count;
      break;
    case kUnwBacktrace:
      g_entries = static_cast<unsigned>(g_unw_backtrace(g_buffer, 256));
      break;
    case kGlibcBacktrace:
      g_entries = static_cast<unsigned>(backtrace(g_buffer, 256));
      break;
    default:
      break;
  }
  asm volatile("" : : : "memory");
}

double g_ns_per_tick = 0;

double calibrate() {
  const auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
  };
  const double begin = now();
  const std::uint64_t ticks = __rdtsc();
  while (now() - begin < 50e6) {
  }
  return (now() - begin) / static_cast<double>(__rdtsc() - ticks);
}

// Chains of distinct functions: one return address each, as in a game.
double g_result = 0;

[[gnu::noinline]] void repeat_captures() {
  constexpr unsigned kCaptures = 400;
  double best = 1e18;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t begin = __rdtsc();
    for (unsigned i = 0; i < kCaptures; ++i) capture();
    best = std::min(best, static_cast<double>(__rdtsc() - begin) / kCaptures);
  }
  g_result = best * g_ns_per_tick;
}

template <int N>
struct Chain {
  [[gnu::noinline]] static int descend(int levels, volatile int* sink) {
    char local[16 + 8 * (N % 5)];
    asm volatile("" : : "r"(local) : "memory");
    if (levels <= 0) {
      repeat_captures();
      return 1;
    }
    const int below = Chain<(N + 7) % 32>::descend(levels - 1, sink);
    *sink = below;
    return below + 1;
  }
};

double at_depth(Method method, int entries) {
  g_method = method;
  volatile int sink = 0;
  // main, its two callers and this function are entries too.
  Chain<0>::descend(entries - 7, &sink);
  return g_result;
}

// The random call tree.
std::uint32_t g_random = 1;
std::uint64_t g_captures = 0;
int g_deepest = 0;
std::uint32_t next_random() {
  g_random = g_random * 1664525u + 1013904223u;
  return g_random >> 16;
}

template <int N>
[[gnu::noinline]] int branch(int depth) {
  char local[16 + 8 * (N % 7)];
  asm volatile("" : : "r"(local) : "memory");
  if (depth >= g_deepest) {
    ++g_captures;
    capture();
    return 1;
  }
  int sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const std::uint32_t choice = next_random();
    if (depth > 4 && choice % 4 == 0) continue;  // subtrees end early
    switch (choice / 4 % 4) {
      case 0:
        sum += branch<(N * 5 + 1) % 32>(depth + 1);
        break;
      case 1:
        sum += branch<(N * 5 + 7) % 32>(depth + 1) + 1;
        break;
      case 2:
        sum += branch<(N * 5 + 12) % 32>(depth + 1) + 2;
        break;
      default:
        sum += branch<(N * 5 + 22) % 32>(depth + 1) + 3;
        break;
    }
    if (depth > g_deepest - 9) continue;
    break;
  }
  return sum;
}

double tree(Method method, int deepest) {
  g_method = method;
  g_deepest = deepest;
  double best = 1e18;
  for (int attempt = 0; attempt < 3; ++attempt) {
    g_random = 7;
    g_captures = 0;
    g_memo.forget();
    const std::uint64_t begin = __rdtsc();
    for (int i = 0; i < 60; ++i) branch<0>(0);
    const auto ticks = static_cast<double>(__rdtsc() - begin);
    best = std::min(best, ticks / static_cast<double>(std::max<std::uint64_t>(g_captures, 1)));
  }
  return best * g_ns_per_tick;
}

struct Row {
  std::string name;
  std::vector<double> rounds[kMethods];
};

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What learning one rule takes, over all call sites of the C library's text that have one.
void price_learning() {
  const auto pc = reinterpret_cast<std::uintptr_t>(&qsort);
  hitch::unwind::ModuleImage module;
  if (!hitch::unwind::find_module(pc, module)) return;
  unsigned learnt = 0;
  const std::uint64_t begin = __rdtsc();
  for (std::uintptr_t at = pc; at < pc + 0x40000; at += 61) {
    learnt += hitch::unwind::find_module(at, module) &&
                      hitch::unwind::rule_at(module, at).kind != hitch::unwind::RuleKind::kUnknown
                  ? 1
                  : 0;
  }
  const double each = static_cast<double>(__rdtsc() - begin) / (0x40000 / 61.0) * g_ns_per_tick;
  std::printf("learning one rule: %.0f ns (%u of libc's addresses)\n", each, learnt);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 21;
  if (argc == 3 && std::strcmp(argv[1], "--rounds") == 0) rounds = std::max(1, std::atoi(argv[2]));
  if (!hitch::unwind::prepare_walker(dlsym(RTLD_DEFAULT, "_dl_find_object"))) return 1;
  void* libunwind = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
  if (libunwind == nullptr) {
    std::fprintf(stderr, "stack_bench: libunwind.so.8 is not installed (package libunwind8)\n");
    return 1;
  }
  g_unw_backtrace = reinterpret_cast<int (*)(void**, int)>(dlsym(libunwind, "unw_backtrace"));
  g_memo.bounds.reset(hitch::unwind::top_of_own_stack(true));
  g_ns_per_tick = calibrate();

  std::vector<Row> rows;
  for (const int depth : {10, 30, 60}) rows.push_back({"depth " + std::to_string(depth), {}});
  rows.push_back({"call tree, 26 deep", {}});
  for (int round = 0; round < rounds; ++round) {
    for (int method = 0; method < kMethods; ++method) {
      const auto turn = static_cast<Method>((method + round) % kMethods);
      rows[0].rounds[turn].push_back(at_depth(turn, 10));
      rows[1].rounds[turn].push_back(at_depth(turn, 30));
      rows[2].rounds[turn].push_back(at_depth(turn, 60));
      // The tree's program itself is measured with the empty hook, and taken off.
      rows[3].rounds[turn].push_back(tree(turn, 22));
    }
  }
  at_depth(kWarm, 30);
  std::printf(
      "%d interleaved rounds; ns a capture, median [lowest .. highest round]; the deepest of "
      "\"depth 30\" is %u entries\n",
      rounds, g_entries);
  std::printf("%-20s", "");
  for (const Row& row : rows) std::printf("%26s", row.name.c_str());
  std::printf("\n");
  for (int method = kWarm; method < kMethods; ++method) {
    std::printf("%-20s", kNames[method]);
    for (const Row& row : rows) {
      const double empty = middle(row.rounds[kEmpty]);
      const auto [low, high] =
          std::minmax_element(row.rounds[method].begin(), row.rounds[method].end());
      char text[64];
      std::snprintf(text, sizeof text, "%.1f [%.1f .. %.1f]", middle(row.rounds[method]) - empty,
                    *low - empty, *high - empty);
      std::printf("%26s", text);
    }
    std::printf("\n");
  }
  for (const auto& [method, name] :
       {std::pair{kWarm, "re-validated"}, std::pair{kKnown, "rule walk"}}) {
    std::printf("%-20s", (std::string("unw / ") + name).c_str());
    for (const Row& row : rows) {
      const double empty = middle(row.rounds[kEmpty]);
      std::printf("%25.1fx", (middle(row.rounds[kUnwBacktrace]) - empty) /
                                 (middle(row.rounds[method]) - empty));
    }
    std::printf("\n");
  }
  price_learning();
  return 0;
}
