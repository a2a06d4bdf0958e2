// The smallest program with frames of its own.
//
//   hitchtrace run -- ./hello_frames
//
// It runs 60 frames; each makes 4 allocations, 1 realloc and 4 releases of its own and asks for
// 64 + 128 + 256 + 512 bytes and, through realloc, 1024. The last line it prints makes stdio
// allocate one buffer more. Frame 40 makes 2000 further pairs: the report shows it as the frame
// with the most allocations.
#include <hitchtrace/hitchtrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kFrames = 60, kBusyFrame = 40, kBusyPairs = 2000 };

// The optimiser may not remove a pair of malloc and free whose block escapes through here.
static void* volatile escape;

static void* allocate(size_t bytes) {
  void* block = malloc(bytes);
  if (block == NULL) exit(1);
  memset(block, 1, bytes);
  escape = block;
  return block;
}

static void simulate(int frame) {
  void* input = allocate(64);
  void* entities = allocate(128);
  void* draw_list = allocate(256);
  char* text = allocate(512);
  char* longer = realloc(text, 1024);
  if (longer == NULL) exit(1);
  escape = longer;
  free(longer);
  free(draw_list);
  free(entities);
  free(input);

  if (frame == kBusyFrame) {
    hitch_message("a wave of enemies arrives");
    for (int i = 0; i < kBusyPairs; ++i) free(allocate(48));
  }
}

int main(void) {
  const struct timespec rest = {0, 4 * 1000 * 1000};
  for (int frame = 0; frame < kFrames; ++frame) {
    hitch_tag_push("simulate");
    simulate(frame);
    hitch_tag_pop();
    nanosleep(&rest, NULL);
    hitch_frame_mark();
  }
  printf("%d frames\n", kFrames);
  return 0;
}
