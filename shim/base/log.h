// Lines to stderr that are safe in any hook: one write system call, no allocation, no errno, no
// locale. Silent unless something went wrong or the option `verbose` is on.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/syscall.h"

namespace hitch::base {

// Printed as 0x...
struct Hex {
  std::uint64_t value;
};

// Builds one line in place; what does not fit is cut.
class Line {
 public:
  Line& operator<<(const char* text) {
    for (; *text != '\0' && used_ + 1 < sizeof(text_); ++text) text_[used_++] = *text;
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    char digits[21];
    unsigned n = 0;
    do {
      digits[n++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (n > 0 && used_ + 1 < sizeof(text_)) text_[used_++] = digits[--n];
    return *this;
  }
  Line& operator<<(Hex number) {
    *this << "0x";
    unsigned digits = 1;
    while (digits < 16 && number.value >> (4 * digits) != 0) ++digits;
    while (digits-- > 0 && used_ + 1 < sizeof(text_))
      text_[used_++] = "0123456789abcdef"[number.value >> (4 * digits) & 15];
    return *this;
  }
  const char* text() {
    text_[used_] = '\0';
    return text_;
  }
  unsigned long size() const { return used_; }

 private:
  char text_[512];
  unsigned long used_ = 0;
};

inline void say(Line& line) {
  line << "\n";
  system_call(SYS_write, 2, word(line.text()), static_cast<long>(line.size()));
}

}  // namespace hitch::base
