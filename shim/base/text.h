// Copying text into fixed fields.
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

}  // namespace hitch::base
