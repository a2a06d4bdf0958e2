// 20 frame marks with tags, messages and a heap of its own; exact per frame: marks
// Frame i makes i + 1 pairs, and 2 blocks of 64 bytes in the heap, one of which is released.
#include <hitchtrace/hitchtrace.h>

#include "say.h"

enum { kFrames = 20 };
static char arena[kFrames * 128];

int main(void) {
  const hitch_heap heap = hitch_heap_create("arena", 0);
  for (int i = 0; i < kFrames; ++i) {
    hitch_tag_push("frame work");
    allocate_pairs(i + 1);
    hitch_tag_pop();
    hitch_heap_alloc(heap, arena + 128 * i, 64);
    hitch_heap_alloc(heap, arena + 128 * i + 64, 64);
    hitch_heap_free(heap, arena + 128 * i);
    if (i == 10) hitch_message("half way");
    hitch_frame_mark();
  }
  hitch_heap_reset(heap);
  say("{\"ok\": true, \"frames\": %d, \"recording\": %d, \"heap\": %d}\n", kFrames,
      hitch_is_recording(), heap != 0);
  return 0;
}
