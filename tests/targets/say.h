// What every target program shares: one line of JSON on stdout, written without stdio, which would
// allocate.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((format(printf, 1, 2))) static inline void say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0 && write(1, line, (size_t)length) != length) _exit(90);
}

// Ends the program with a sentence when what must hold does not.
#define REQUIRE(condition)                                                              \
  do {                                                                                  \
    if (!(condition)) {                                                                 \
      say("{\"ok\": false, \"line\": %d, \"failed\": \"%s\"}\n", __LINE__, #condition); \
      _exit(91);                                                                        \
    }                                                                                   \
  } while (0)

// Keeps the optimiser from removing a pair of allocation and release.
static void* volatile say_escape;
static inline void* keep(void* block) {
  say_escape = block;
  return block;
}

// `pairs` of malloc and free.
static inline void allocate_pairs(int pairs) {
  for (int i = 0; i < pairs; ++i) {
    char* block = (char*)keep(malloc((size_t)(16 + i % 200)));
    if (block == NULL) _exit(92);
    block[0] = 1;
    free(block);
  }
}
