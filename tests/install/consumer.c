// Uses the whole C API once and says whether the shim was in the process.
#include <hitchtrace/hitchtrace.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  char* block = malloc(100);
  if (block == NULL) return 1;
  hitch_message("consumer started");
  hitch_tag_push("setup");
  const hitch_heap heap = hitch_heap_create("pool", 0);
  hitch_heap_alloc(heap, block, 10);
  hitch_heap_realloc(heap, block, block, 20);
  hitch_heap_free(heap, block);
  hitch_heap_reset(heap);
  hitch_tag_pop();
  hitch_frame_mark();
  free(block);
  printf("shim %s\n", HITCHTRACE_ENTRY(hitchtrace_frame_mark) != NULL ? "present" : "absent");
  return 0;
}
