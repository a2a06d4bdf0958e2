// Text in fixed fields.
#pragma once
#include <cstddef>
#include <cstring>

namespace hitch::base {

// Copies `text`, cut to fit, always zero terminated.
template <std::size_t N>
void copy_text(char (&field)[N], const char* text) {
  std::size_t length = std::strlen(text);
  if (length > N - 1) length = N - 1;
  std::memcpy(field, text, length);
  field[length] = '\0';
}

// strcmp(a, b) == 0 without libc: a sanitizer's strcmp crashes before its run-time library is
// ready.
inline bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

}  // namespace hitch::base
