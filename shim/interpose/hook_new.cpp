#include <cstddef>
#include <cstdint>

#include "base/compiler.h"
#include "interpose/operators.h"
#include "libc/elf_lookup.h"
#include "libc/real_libc.h"
#include "record/recorder.h"

using hitch::format::Op;
using hitch::record::traced_alloc;
using hitch::record::traced_free;

extern "C" {
[[gnu::visibility("hidden")]] extern void* hitch_next_operator[];
}

namespace {

constexpr unsigned kOperators = 20;
constexpr unsigned kFirstDelete = 8;

constexpr const char* kNames[kOperators] = {
#define HITCH_OPERATOR(index, symbol, op, kind) #symbol,
#include "interpose/operators.def"
#undef HITCH_OPERATOR
};

// tail_jump.S writes these numbers.
static_assert(static_cast<int>(Op::kNew) == 4 && static_cast<int>(Op::kNewArray) == 5 &&
              static_cast<int>(Op::kNewAligned) == 6 && static_cast<int>(Op::kDelete) == 8 &&
              static_cast<int>(Op::kDeleteArray) == 9);

// The definitions behind wrapped forms.
constinit void* g_real_operator[kOperators] = {};

template <class F>
F* real_as(unsigned index) {
  return reinterpret_cast<F*>(g_real_operator[index]);
}

using Size = std::size_t;

// An operator that does not end in our malloc may call the new_handler, which is the game's code
// and may allocate or throw. So no hook scope is held across it.
template <class Real>
void* traced_foreign_new(Op op, Size size, std::uintptr_t caller, Real real) {
  hitch::record::ThreadState* state = hitch::record::enter();
  if (state == nullptr || (state->mode & hitch::record::kRecord) == 0) {
    return traced_alloc(op, size, caller, [block = real()] { return block; });
  }
  const std::uint64_t t0 = hitch::record::now(*state);
  void* block = real();
  const std::uint64_t t1 = hitch::record::now(*state);
  const hitch::record::HookScope scope(*state);
  const bool timed = (state->mode & hitch::record::kTimeAlloc) != 0;
  const std::uint64_t ticks = timed ? t1 - t0 : 0;
  timed ? hitch::record::count_timed(state->slot->alloc, ticks)
        : hitch::record::count_untimed(state->slot->alloc);
  hitch::base::add_once(state->slot->alloc_bytes, block != nullptr ? size : 0);
  record_alloc(
      scope, hitch::format::make_head(hitch::format::BufferKind::kAlloc, op, t1 - state->tsc_base),
      block, size, caller, ticks);
  return block;
}

#define WRAP_N(i, op)                                                            \
  void* wrapped_##i(Size size) {                                                 \
    return traced_foreign_new(Op::op, size, HITCH_CALLER(),                      \
                              [size] { return real_as<void*(Size)>(i)(size); }); \
  }
#define WRAP_NT(i, op)                                                    \
  void* wrapped_##i(Size size, const void* tag) {                         \
    return traced_foreign_new(Op::op, size, HITCH_CALLER(), [size, tag] { \
      return real_as<void*(Size, const void*)>(i)(size, tag);             \
    });                                                                   \
  }
#define WRAP_NA(i, op)                                                          \
  void* wrapped_##i(Size size, Size alignment) {                                \
    return traced_foreign_new(Op::op, size, HITCH_CALLER(), [size, alignment] { \
      return real_as<void*(Size, Size)>(i)(size, alignment);                    \
    });                                                                         \
  }
#define WRAP_NAT(i, op)                                                              \
  void* wrapped_##i(Size size, Size alignment, const void* tag) {                    \
    return traced_foreign_new(Op::op, size, HITCH_CALLER(), [size, alignment, tag] { \
      return real_as<void*(Size, Size, const void*)>(i)(size, alignment, tag);       \
    });                                                                              \
  }
// All deletes take up to three words after the block; passing them on unread serves every form.
#define WRAP_DELETE(i, op)                                                  \
  void wrapped_##i(void* block, Size a, Size b) {                           \
    const auto real = real_as<void(void*, Size, Size)>(i);                  \
    if (block == nullptr) {                                                 \
      real(block, a, b);                                                    \
      return;                                                               \
    }                                                                       \
    traced_free(Op::op, block, HITCH_CALLER(), [=] { real(block, a, b); }); \
  }
#define WRAP_D(i, op) WRAP_DELETE(i, op)
#define WRAP_DS(i, op) WRAP_DELETE(i, op)
#define WRAP_DA(i, op) WRAP_DELETE(i, op)
#define WRAP_DSA(i, op) WRAP_DELETE(i, op)
#define WRAP_DT(i, op) WRAP_DELETE(i, op)
#define WRAP_DAT(i, op) WRAP_DELETE(i, op)
#define HITCH_OPERATOR(index, symbol, op, kind) WRAP_##kind(index, op)
#include "interpose/operators.def"
#undef HITCH_OPERATOR

void* const kWrapped[kOperators] = {
#define HITCH_OPERATOR(index, symbol, op, kind) reinterpret_cast<void*>(wrapped_##index),
#include "interpose/operators.def"
#undef HITCH_OPERATOR
};

// When nothing in the process defines an operator. Never seen; a caller that links against operator
// new has a C++ library. new_handler is out of reach, so these answer like the nothrow forms.
void* lonely_new(Size size) { return hitch::libc::g_real.malloc(size != 0 ? size : 1); }
void* lonely_new_aligned(Size size, Size alignment) {
  return hitch::libc::g_real.memalign(alignment, size);
}
void lonely_delete(void* block) { hitch::libc::g_real.free(block); }

void* lonely_operator(unsigned index) {
  if (index >= kFirstDelete) return reinterpret_cast<void*>(lonely_delete);
  return index % 4 >= 2 ? reinterpret_cast<void*>(lonely_new_aligned)
                        : reinterpret_cast<void*>(lonely_new);
}

void learn_plumbing(const link_map* module) {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  if (module == nullptr || !hitch::libc::module_range(module, start, end)) return;
  hitch::record::hitch_plumbing_start = start;
  hitch::record::hitch_plumbing_bytes = end - start;
}

// Times an operator whose next definition never comes to our malloc or free.
void wrap(unsigned index, void* real) {
  g_real_operator[index] = real;
  hitch_next_operator[index] = kWrapped[index];
}

bool belongs_to_allocator(void* real) {
  const link_map* definer = hitch::libc::module_of(reinterpret_cast<std::uintptr_t>(real));
  const auto allocator = reinterpret_cast<std::uintptr_t>(hitch::libc::g_real.malloc);
  return definer != nullptr && definer == hitch::libc::module_of(allocator);
}

// Decides how an operator is entered. Most of the allocators' own operators (tcmalloc, mimalloc) do
// not come back through our malloc: they are wrapped. All others are jumped to: libstdc++'s because
// they end in malloc, a library's of the game's own because nothing may be assumed of it.
void bind(unsigned index, void* real) {
  if (belongs_to_allocator(real)) {
    wrap(index, real);
  } else {
    hitch_next_operator[index] = real;
  }
}

// Calls an allocator's own pair of operators and sees whether they come to our malloc and free
// (jemalloc's do). Only for those: the operators that libstdc++ calls may be the executable's,
// whose memory tracker is not constructed yet.
struct Reached {
  bool alloc;
  bool release;
};

Reached probe(unsigned new_index, void* new_entry, void* delete_entry,
              const hitch::record::ThreadState& state) {
  constexpr Size kBytes = 32;
  constexpr Size kAlignment = 32;
  const std::uint64_t before = state.own_calls;
  void* block = nullptr;
  switch (new_index % 4) {
    case 0:
      block = reinterpret_cast<void* (*)(Size)>(new_entry)(kBytes);
      break;
    case 1:
      block = reinterpret_cast<void* (*)(Size, const void*)>(new_entry)(kBytes, nullptr);
      break;
    case 2:
      block = reinterpret_cast<void* (*)(Size, Size)>(new_entry)(kBytes, kAlignment);
      break;
    default:
      block = reinterpret_cast<void* (*)(Size, Size, const void*)>(new_entry)(kBytes, kAlignment,
                                                                              nullptr);
  }
  const std::uint64_t between = state.own_calls;
  // Size and alignment are both 32, so every form of delete finds what it expects.
  reinterpret_cast<void (*)(void*, Size, Size)>(delete_entry)(block, kBytes, kAlignment);
  return {between != before, state.own_calls != between};
}

void bind_allocators_operators(void* const (&next)[kOperators],
                               const hitch::record::ThreadState& state) {
  // The form of new that goes with each delete: D DS DA DSA DT DAT.
  constexpr unsigned kNewForm[6] = {0, 0, 2, 2, 1, 3};
  for (unsigned d = kFirstDelete; d < kOperators; ++d) {
    const bool array = d >= 14;
    const unsigned n = (array ? 4 : 0) + kNewForm[d - (array ? 14 : 8)];
    if (next[n] == nullptr || next[d] == nullptr || !belongs_to_allocator(next[n]) ||
        !belongs_to_allocator(next[d])) {
      continue;
    }
    const Reached reached = probe(n, next[n], next[d], state);
    if (reached.alloc) hitch_next_operator[n] = next[n];
    if (reached.release) hitch_next_operator[d] = next[d];
  }
}

}  // namespace

extern "C" {

[[gnu::visibility("hidden")]] constinit void* hitch_next_operator[kOperators] = {};

[[gnu::visibility("hidden")]] void* hitch_attach_for_operator() { return hitch::record::enter(); }

// First call of an operator that was not there at start: a C program that loaded a C++ library
// later. The caller's own scope comes first, then anything loaded.
[[gnu::visibility("hidden")]] void* hitch_find_operator(unsigned index, std::uintptr_t caller) {
  const char* name = kNames[index];
  void* found = hitch::libc::find_next(name);
  if (found == nullptr) {
    const link_map* module = hitch::libc::module_of(caller);
    if (module != nullptr) found = hitch::libc::find_in_module(module, name);
  }
  if (found == nullptr) found = hitch::libc::find_elsewhere(name);
  if (found == nullptr) found = lonely_operator(index);
  if (hitch::record::hitch_plumbing_bytes == 0) {
    learn_plumbing(hitch::libc::module_of(reinterpret_cast<std::uintptr_t>(found)));
  }
  bind(index, found);
  return hitch_next_operator[index];
}

}  // extern "C"

namespace hitch::interpose {

void bind_operators() {
  record::ThreadState* state = record::enter();
  if (state == nullptr) return;
  void* next[kOperators];
  for (unsigned i = 0; i < kOperators; ++i) {
    next[i] = libc::find_next(kNames[i]);
    if (next[i] == nullptr)
      continue;  // no C++ library: hitch_find_operator takes over if one comes
    if (i == 0) learn_plumbing(libc::module_of(reinterpret_cast<std::uintptr_t>(next[i])));
    bind(i, next[i]);
  }
  const record::HookScope scope(*state);
  const record::OwnWork own(scope);
  bind_allocators_operators(next, *state);
}

}  // namespace hitch::interpose
