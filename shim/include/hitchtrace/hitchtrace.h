/* hitchtrace: what a game may tell the shim. All of it is optional.
 *
 * Include this header and call freely: without the shim in the process every function is inert (one
 * load and a branch), so calls may stay in a shipped build. With the shim preloaded or linked,
 * calls cost tens of nanoseconds. Every function is thread-safe and may be called from any thread
 * unless it says otherwise. Nothing here allocates, blocks, or changes errno. Null texts are
 * ignored.
 *
 *   while (running) {
 *     hitch_tag_push("physics");
 *     step_physics();
 *     hitch_tag_pop();
 *     draw();
 *     swap();
 *     hitch_frame_mark();   // only when the shim cannot see the present call itself
 *   }
 *
 * "Frame" always means a picture frame of the game.
 */
#ifndef HITCHTRACE_HITCHTRACE_H
#define HITCHTRACE_HITCHTRACE_H

#include <stddef.h>
#include <stdint.h>

#define HITCHTRACE_VERSION_MAJOR 0
#define HITCHTRACE_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif
/* NOLINTBEGIN(modernize-redundant-void-arg): read by C compilers too. */

/* A heap of the game's own (an arena, a pool, an engine allocator). 0 is "no heap". */
typedef uint32_t hitch_heap;

/* The entry points the shim exports. Weak: null when it is not in the process. Use the wrappers
 * below. */
#if defined(HITCHTRACE_IMPLEMENTATION)
#define HITCHTRACE_IMPORT
#else
#define HITCHTRACE_IMPORT __attribute__((weak, visibility("default")))
#endif
HITCHTRACE_IMPORT void hitchtrace_frame_mark(void);
HITCHTRACE_IMPORT void hitchtrace_tag_push(const char* name);
HITCHTRACE_IMPORT void hitchtrace_tag_pop(void);
HITCHTRACE_IMPORT void hitchtrace_message(const char* text);
HITCHTRACE_IMPORT int hitchtrace_is_recording(void);
HITCHTRACE_IMPORT void hitchtrace_record(int on);
HITCHTRACE_IMPORT hitch_heap hitchtrace_heap_create(const char* name, hitch_heap parent);
HITCHTRACE_IMPORT void hitchtrace_heap_alloc(hitch_heap heap, const void* block, size_t bytes);
HITCHTRACE_IMPORT void hitchtrace_heap_free(hitch_heap heap, const void* block);
HITCHTRACE_IMPORT void hitchtrace_heap_realloc(hitch_heap heap, const void* old_block,
                                               const void* block, size_t bytes);
HITCHTRACE_IMPORT void hitchtrace_heap_reset(hitch_heap heap);

/* The address of an entry point, or null. In a position-dependent executable (-no-pie) the linker
 * would settle a plain reference to a weak symbol as null for good; one through the GOT stays open
 * until the program starts. */
#if defined(__x86_64__) && !defined(__PIC__) && !defined(__PIE__)
#define HITCHTRACE_ENTRY(fn)                                                                \
  __extension__({                                                                           \
    __typeof__(&fn) hitchtrace_entry_;                                                      \
    __asm__(".weak " #fn "\n\tmovq " #fn "@GOTPCREL(%%rip), %0" : "=r"(hitchtrace_entry_)); \
    hitchtrace_entry_;                                                                      \
  })
#else
#define HITCHTRACE_ENTRY(fn) (&fn)
#endif
#define HITCHTRACE_CALL(fn, arguments)                       \
  do {                                                       \
    __typeof__(&fn) hitchtrace_call_ = HITCHTRACE_ENTRY(fn); \
    if (hitchtrace_call_) hitchtrace_call_ arguments;        \
  } while (0)

/* Ends the current frame here. Call it once per frame, from one thread, right after the present
 * call. Once a mark has been seen, present calls found by the shim no longer count as frames. */
static inline void hitch_frame_mark(void) { HITCHTRACE_CALL(hitchtrace_frame_mark, ()); }

/* Names what this thread does until the matching pop; tags nest, 16 deep at most (deeper ones are
 * counted and ignored). `name` must stay valid and unchanged for the whole run: use a string
 * literal. At most 255 different names; further ones are reported as "(other)". */
static inline void hitch_tag_push(const char* name) {
  HITCHTRACE_CALL(hitchtrace_tag_push, (name));
}
static inline void hitch_tag_pop(void) { HITCHTRACE_CALL(hitchtrace_tag_pop, ()); }

/* A line for the trace ("level 2 loaded"); every hitch is reported with the last message before it.
 * Copied; cut at 240 bytes. */
static inline void hitch_message(const char* text) { HITCHTRACE_CALL(hitchtrace_message, (text)); }

/* 0 pauses recording, 1 lets it go on: frames in between are not in the trace, only the run's
 * totals and the live blocks are followed. Takes effect within about a tenth of a second. A run
 * that was started with option paused records nothing before the first hitch_record(1). */
static inline void hitch_record(int on) { HITCHTRACE_CALL(hitchtrace_record, (on)); }

/* 1 while events of this process are being recorded, else 0. */
static inline int hitch_is_recording(void) {
  __typeof__(&hitchtrace_is_recording) entry = HITCHTRACE_ENTRY(hitchtrace_is_recording);
  return entry ? entry() : 0;
}

/* Heaps of the game's own. Report each block the heap hands out and takes back, so that an engine's
 * allocator counts; the memory the heap itself got from malloc or mmap is already known and is
 * never counted twice. `name` is copied (240 bytes at most). `parent` is the heap this one gets its
 * memory from, or 0. Returns 0 without the shim or after 255 heaps; every other function takes 0
 * and does nothing. */
static inline hitch_heap hitch_heap_create(const char* name, hitch_heap parent) {
  __typeof__(&hitchtrace_heap_create) entry = HITCHTRACE_ENTRY(hitchtrace_heap_create);
  return entry ? entry(name, parent) : 0;
}
/* After the heap has handed out `block` of `bytes`. */
static inline void hitch_heap_alloc(hitch_heap heap, const void* block, size_t bytes) {
  HITCHTRACE_CALL(hitchtrace_heap_alloc, (heap, block, bytes));
}
/* Before the heap takes `block` back. */
static inline void hitch_heap_free(hitch_heap heap, const void* block) {
  HITCHTRACE_CALL(hitchtrace_heap_free, (heap, block));
}
/* After the heap has moved or resized `old_block`; `block` may equal it. */
static inline void hitch_heap_realloc(hitch_heap heap, const void* old_block, const void* block,
                                      size_t bytes) {
  HITCHTRACE_CALL(hitchtrace_heap_realloc, (heap, old_block, block, bytes));
}
/* Before the heap releases all of its blocks at once. */
static inline void hitch_heap_reset(hitch_heap heap) {
  HITCHTRACE_CALL(hitchtrace_heap_reset, (heap));
}

/* NOLINTEND(modernize-redundant-void-arg) */
#ifdef __cplusplus
}  // extern "C"

namespace hitchtrace {
// Tags this thread's work for the lifetime of the object. Not copyable; leave scopes in reverse
// order.
class TagScope {
 public:
  explicit TagScope(const char* name) { hitch_tag_push(name); }
  ~TagScope() { hitch_tag_pop(); }
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;
};
}  // namespace hitchtrace
#endif

#endif /* HITCHTRACE_HITCHTRACE_H */
