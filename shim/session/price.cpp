#include "session/price.h"

#include <cstring>

#include "libc/real_libc.h"
#include "record/recorder.h"

namespace hitch::session {
namespace {

constexpr unsigned kRounds = 24;
constexpr unsigned kCalls = 64;

// A thread state that writes into private memory, with the mode of the real one.
alignas(64) constinit format::ThreadSlot g_slot{};
alignas(64) constinit std::uint64_t g_words[kCalls * 8] = {};

void reset(record::ThreadState& scratch) {
  scratch.write = g_words;
  scratch.limit = g_words + kCalls * 8 - 5;
  scratch.end = g_words + kCalls * 8;
}

template <class Body>
std::uint64_t smallest(const record::ThreadState& state, Body body) {
  std::uint64_t best = ~std::uint64_t{0};
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = record::now(state);
    body();
    const std::uint64_t ticks = record::now(state) - begin;
    if (ticks < best) best = ticks;
  }
  return best;
}

std::uint32_t per_call_x256(std::uint64_t with, std::uint64_t without) {
  return with > without ? static_cast<std::uint32_t>((with - without) * 256 / kCalls) : 0;
}

struct StackPrices {
  std::uint64_t fresh_x256 = 0;
  std::uint64_t kept_x256 = 0;
};

// Walks the stack from `depth` calls further in: fresh ones, then ones that repeat.
[[gnu::noinline]] void price_walks(record::ThreadState& state, unsigned depth, std::uint64_t& fresh,
                                   std::uint64_t& kept) {
  if (depth > 0) {
    price_walks(state, depth - 1, fresh, kept);
    asm volatile("" : : : "memory");  // no tail call
    return;
  }
  unwind::StackMemo& memo = *state.memo;
  const std::uintptr_t slot = base::return_slot();
  const std::uintptr_t rbp = *reinterpret_cast<std::uintptr_t*>(slot - sizeof(void*));
  const auto walk = [&] { unwind::walk(memo, slot, rbp, record::g_process->stack_depth); };
  fresh = smallest(state, [&] {
    memo.forget();
    walk();
  });
  kept = smallest(state, walk);
}

StackPrices measure_walks(record::ThreadState& state) {
  constexpr unsigned kDeeper = 32;
  std::uint64_t fresh[2];
  std::uint64_t kept[2];
  price_walks(state, 0, fresh[0], kept[0]);
  price_walks(state, kDeeper, fresh[1], kept[1]);
  const auto each = [](const std::uint64_t(&ticks)[2]) {
    return ticks[1] > ticks[0] ? (ticks[1] - ticks[0]) * 256 / kDeeper : 0;
  };
  return {each(fresh), each(kept)};
}

}  // namespace

void measure_prices(record::ThreadState& state) {
  format::SharedHeader& header = *state.header;
  std::uint64_t floor = ~std::uint64_t{0};
  for (unsigned i = 0; i < 1000; ++i) {
    const std::uint64_t begin = record::now(state);
    const std::uint64_t ticks = record::now(state) - begin;
    if (ticks < floor) floor = ticks;
  }
  std::uint64_t sink = 0;
  const std::uint64_t clock = smallest(state, [&] {
    for (unsigned i = 0; i < kCalls; ++i) sink += record::now(state);
  });

  // The hooks find their state in the TLS variable: lend them the scratch one. A signal handler
  // that allocates meanwhile is recorded nowhere, which is what its counters in g_slot say too.
  record::ThreadState scratch = state;
  scratch.slot = &g_slot;
  scratch.outlier_ticks = ~std::uint64_t{0};
  scratch.guard = record::kIdle;
  void* blocks[kCalls];
  const auto loop = [&](auto allocate, auto release, std::uint64_t& alloc_ticks,
                        std::uint64_t& free_ticks) {
    alloc_ticks = free_ticks = ~std::uint64_t{0};
    for (unsigned round = 0; round < kRounds; ++round) {
      reset(scratch);
      const std::uint64_t begin = record::now(state);
      for (void*& block : blocks) {
        block = allocate();
        asm volatile("" : "+r"(block) : : "memory");
      }
      const std::uint64_t middle = record::now(state);
      reset(scratch);
      for (void* block : blocks) release(block);
      const std::uint64_t end = record::now(state);
      if (middle - begin < alloc_ticks) alloc_ticks = middle - begin;
      if (end - middle < free_ticks) free_ticks = end - middle;
    }
  };
  auto* const real_malloc = libc::g_real.malloc;
  auto* const real_free = libc::g_real.free;
  std::uint64_t plain_alloc = 0;
  std::uint64_t plain_free = 0;
  std::uint64_t traced_alloc = 0;
  std::uint64_t traced_free = 0;
  loop([=] { return real_malloc(64); }, [=](void* block) { real_free(block); }, plain_alloc,
       plain_free);
  base::signal_fence();
  record::hitch_thread_state = &scratch;
  loop(
      [=] {
        return record::traced_alloc(format::Op::kMalloc, 64, 0, [=] { return real_malloc(64); });
      },
      [=](void* block) {
        record::traced_free(format::Op::kFree, block, 0, [=] { real_free(block); });
      },
      traced_alloc, traced_free);
  record::hitch_thread_state = &state;
  base::signal_fence();
  std::uint32_t alloc_x256 = per_call_x256(traced_alloc, plain_alloc);
  if ((state.mode & record::kStacks) != 0) {
    const std::uint32_t entries = state.memo->count;
    const StackPrices walks = measure_walks(state);
    // The loop's own stack was compared at each call: it is priced by its entries, as the game's.
    const auto compared = static_cast<std::uint32_t>(entries * walks.kept_x256);
    alloc_x256 = alloc_x256 > compared ? alloc_x256 - compared : 0;
    header.price_fresh_x256.store(static_cast<std::uint32_t>(walks.fresh_x256),
                                  std::memory_order_relaxed);
    header.price_kept_x256.store(static_cast<std::uint32_t>(walks.kept_x256),
                                 std::memory_order_relaxed);
  }
  state.memo->forget();  // the recorder never saw what the loops left there

  // Both loops, so that an observer beneath the shim can be told what was not the game.
  header.own_allocs.fetch_add(2 * kRounds * kCalls, std::memory_order_relaxed);
  header.own_frees.fetch_add(2 * kRounds * kCalls, std::memory_order_relaxed);
  header.price_pair_floor.store(static_cast<std::uint32_t>(floor), std::memory_order_relaxed);
  header.price_alloc_x256.store(alloc_x256, std::memory_order_relaxed);
  header.price_free_x256.store(per_call_x256(traced_free, plain_free), std::memory_order_relaxed);
  header.price_clock_x256.store(static_cast<std::uint32_t>(clock * 256 / kCalls),
                                std::memory_order_release);
  asm volatile("" : : "r"(sink));
}

}  // namespace hitch::session
