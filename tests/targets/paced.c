// Frames of about 2 ms, every HITCH_EVERYth of 30: paced FRAMES HITCH_EVERY [PAUSE_AT GO_ON_AT]
// Every frame makes 20 pairs, one that hitches 1,000. At the given frames recording is paused and
// goes on; PAUSE_AT 0 GO_ON_AT n is for a run that begins paused.
#include <hitchtrace/hitchtrace.h>
#include <time.h>

#include "say.h"

static void sleep_ms(long ms) {
  const struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

int main(int count, char** words) {
  REQUIRE(count >= 3);
  const int frames = atoi(words[1]);
  const int hitch_every = atoi(words[2]);
  const int pause_at = count > 4 ? atoi(words[3]) : -1;
  const int go_on_at = count > 4 ? atoi(words[4]) : -1;
  hitch_frame_mark();
  for (int i = 1; i <= frames; ++i) {
    if (i == pause_at) hitch_record(0);
    if (i == go_on_at) hitch_record(1);
    const int hitches = hitch_every > 0 && i % hitch_every == 0;
    allocate_pairs(hitches ? 1000 : 20);
    sleep_ms(hitches ? 30 : 2);
    hitch_frame_mark();
  }
  say("{\"ok\": true}\n");
  return 0;
}
