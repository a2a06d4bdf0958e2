// The file count_calls.c writes: one unsigned long for each of these.
#pragma once

enum {
  kAllocs,     // malloc, calloc, the aligned ones, realloc(NULL, n); failed ones too
  kFrees,      // free, null pointers aside
  kReallocs,   // realloc on a block, whatever came of it
  kNullFrees,  // free(NULL)
  kBytes,      // requested by the successful kAllocs
  kCounters,
};
