// The C API of hitchtrace.h. Each function looks for the thread's state and appends one record.
#define HITCHTRACE_IMPLEMENTATION
#include <atomic>
#include <cstring>

#include "base/compiler.h"
#include "include/hitchtrace/hitchtrace.h"
#include "present/present.h"
#include "record/recorder.h"

using hitch::format::BufferKind;
using hitch::record::HookScope;
using hitch::record::ThreadState;

namespace {

constexpr unsigned kMaxTagDepth = 16;
constexpr std::uint32_t kOtherTag = 255;
constexpr unsigned kTagSlots =
    512;  // hashed by the literal's address; the recorder joins equal texts
constexpr std::uint32_t kMaxHeaps = 255;

// One tag name: claimed by its pointer, announced once its definition has been written.
struct TagName {
  std::atomic<const char*> name;
  std::atomic<std::uint32_t> id;
  std::atomic<bool> announced;
};
constinit TagName g_tags[kTagSlots] = {};
constinit std::atomic<std::uint32_t> g_tag_count{0};
constinit std::atomic<std::uint32_t> g_heap_count{0};

std::uint64_t head(const ThreadState& state, BufferKind kind) {
  return hitch::format::make_head(kind, hitch::record::now(state) - state.tsc_base);
}

bool append_text(const HookScope& scope, BufferKind kind, std::uint32_t id, std::uint32_t aux,
                 const char* text) {
  struct {
    hitch::format::TextRecord record;
    char text[hitch::format::kMaxText];
  } out;
  std::memset(&out, 0, sizeof out);
  std::size_t bytes = strnlen(text, hitch::format::kMaxText);
  out.record.head = head(scope.state(), kind);
  out.record.id = id;
  out.record.aux = aux;
  out.record.bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(out.text, text, bytes);
  return append(
      scope, reinterpret_cast<const std::uint64_t*>(&out),
      static_cast<unsigned>(sizeof out.record / 8) + hitch::format::words_for_bytes(bytes));
}

void append_words(ThreadState& state, BufferKind kind, std::uint64_t value, unsigned count) {
  const HookScope scope(state);
  const std::uint64_t words[2] = {head(state, kind), value};
  append(scope, words, count);
}

// The number of a tag name, or kOtherTag when there are too many. Two threads may both announce a
// name they meet at the same moment; the recorder takes the first.
std::uint32_t intern_tag(const HookScope& scope, const char* name) {
  auto slot =
      static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(name) * 0x9e3779b97f4a7c15u >> 55);
  for (unsigned probe = 0; probe < kTagSlots; ++probe, slot = (slot + 1) % kTagSlots) {
    TagName& tag = g_tags[slot];
    const char* known = tag.name.load(std::memory_order_acquire);
    if (known == nullptr) {
      if (g_tag_count.load(std::memory_order_relaxed) >= kOtherTag - 1) return kOtherTag;
      if (tag.name.compare_exchange_strong(known, name, std::memory_order_acq_rel)) {
        tag.id.store(1 + g_tag_count.fetch_add(1, std::memory_order_relaxed),
                     std::memory_order_release);
        known = name;
      }
    }
    if (known != name) continue;
    const std::uint32_t id = tag.id.load(std::memory_order_acquire);
    if (id == 0 || id >= kOtherTag) return kOtherTag;
    if (!tag.announced.load(std::memory_order_acquire)) {
      if (append_text(scope, BufferKind::kTagDefine, id, 0, name)) {
        tag.announced.store(true, std::memory_order_release);
      }
    }
    return id;
  }
  return kOtherTag;
}

void heap_event(BufferKind kind, hitch_heap heap, const void* block, std::size_t bytes,
                std::uintptr_t caller, unsigned count) {
  if (heap == 0 || block == nullptr) return;
  ThreadState* state = hitch::record::enter();
  if (state == nullptr) return;
  const HookScope scope(*state);
  const std::uint64_t size = bytes < 0xffffffffu ? bytes : 0xffffffffu;
  const std::uint64_t address =
      reinterpret_cast<std::uint64_t>(block) & hitch::format::kAddressMask;
  const std::uint64_t words[5] = {head(*state, kind), address, caller & hitch::format::kAddressMask,
                                  kind == BufferKind::kHeapAlloc ? size : heap, heap};
  append(scope, words, count);
}

}  // namespace

HITCH_EXPORT void hitchtrace_frame_mark() { hitch::present::mark_frame(); }

HITCH_EXPORT void hitchtrace_tag_push(const char* name) {
  ThreadState* state = hitch::record::enter();
  if (state == nullptr || name == nullptr) return;
  if (state->tag_depth >= kMaxTagDepth) {
    ++state->tags_refused;
    return;
  }
  ++state->tag_depth;
  std::uint32_t id = 0;
  {
    const HookScope scope(*state);
    id = intern_tag(scope, name);
  }
  append_words(*state, BufferKind::kTagPush, id, 2);
}

HITCH_EXPORT void hitchtrace_tag_pop() {
  ThreadState* state = hitch::record::enter();
  if (state == nullptr) return;
  if (state->tags_refused > 0) {
    --state->tags_refused;
    return;
  }
  if (state->tag_depth == 0) return;
  --state->tag_depth;
  append_words(*state, BufferKind::kTagPop, 0, 1);
}

HITCH_EXPORT void hitchtrace_message(const char* text) {
  ThreadState* state = hitch::record::enter();
  if (state == nullptr || text == nullptr) return;
  const HookScope scope(*state);
  append_text(scope, BufferKind::kMessage, 0, 0, text);
}

HITCH_EXPORT void hitchtrace_record(int on) {
  ThreadState* state = hitch::record::enter();
  if (state == nullptr) return;
  const auto kind =
      on != 0 ? hitch::format::RequestKind::kStart : hitch::format::RequestKind::kStop;
  append_words(*state, BufferKind::kRequest, static_cast<std::uint64_t>(kind), 2);
}

HITCH_EXPORT int hitchtrace_is_recording() {
  const ThreadState* state = hitch::record::enter();
  return state != nullptr && state->header->recording.load(std::memory_order_relaxed) != 0 ? 1 : 0;
}

HITCH_EXPORT hitch_heap hitchtrace_heap_create(const char* name, hitch_heap parent) {
  ThreadState* state = hitch::record::enter();
  if (state == nullptr || name == nullptr || parent > kMaxHeaps) return 0;
  const std::uint32_t heap = 1 + g_heap_count.fetch_add(1, std::memory_order_relaxed);
  if (heap > kMaxHeaps) {
    g_heap_count.store(kMaxHeaps, std::memory_order_relaxed);
    return 0;
  }
  const HookScope scope(*state);
  append_text(scope, BufferKind::kHeapDefine, heap, parent != 0 ? parent + 1 : 0, name);
  return heap;
}

HITCH_EXPORT void hitchtrace_heap_alloc(hitch_heap heap, const void* block, std::size_t bytes) {
  heap_event(BufferKind::kHeapAlloc, heap, block, bytes, HITCH_CALLER(), 5);
}

HITCH_EXPORT void hitchtrace_heap_free(hitch_heap heap, const void* block) {
  heap_event(BufferKind::kHeapFree, heap, block, 0, HITCH_CALLER(), 4);
}

HITCH_EXPORT void hitchtrace_heap_realloc(hitch_heap heap, const void* old_block, const void* block,
                                          std::size_t bytes) {
  heap_event(BufferKind::kHeapFree, heap, old_block, 0, HITCH_CALLER(), 4);
  heap_event(BufferKind::kHeapAlloc, heap, block, bytes, HITCH_CALLER(), 5);
}

HITCH_EXPORT void hitchtrace_heap_reset(hitch_heap heap) {
  ThreadState* state = heap != 0 ? hitch::record::enter() : nullptr;
  if (state != nullptr) append_words(*state, BufferKind::kHeapReset, heap, 2);
}
