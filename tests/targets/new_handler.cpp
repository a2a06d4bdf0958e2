// What the C++ standard says of operator new: the handler's loop, bad_alloc, nothrow, alignment,
// sized deletes.
#include <cstdint>
#include <new>

#include "say.h"

namespace {
int handler_calls = 0;
volatile std::size_t too_much = PTRDIFF_MAX;

void give_up_after_three() {
  if (++handler_calls == 3) throw std::bad_alloc();
}
void withdraw() {
  ++handler_calls;
  std::set_new_handler(nullptr);
}

template <class F>
bool throws_bad_alloc(F&& f) {
  try {
    keep(f());
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

struct alignas(256) Wide {
  char bytes[512];
};
}  // namespace

int main() {
  for (int i = 0; i < 50; ++i) {
    handler_calls = 0;
    std::set_new_handler(give_up_after_three);
    REQUIRE(throws_bad_alloc([] { return ::operator new(too_much); }));
    REQUIRE(handler_calls == 3);

    handler_calls = 0;
    std::set_new_handler(withdraw);
    REQUIRE(throws_bad_alloc([] { return ::operator new[](too_much); }));
    REQUIRE(handler_calls == 1);
    REQUIRE(throws_bad_alloc([] { return ::operator new(too_much, std::align_val_t(64)); }));
    REQUIRE(::operator new(too_much, std::nothrow) == nullptr);
    REQUIRE(::operator new[](too_much, std::nothrow) == nullptr);
    REQUIRE(::operator new(too_much, std::align_val_t(64), std::nothrow) == nullptr);

    handler_calls = 0;
    std::set_new_handler(give_up_after_three);
    REQUIRE(::operator new(too_much, std::nothrow) == nullptr);
    REQUIRE(handler_calls == 3);
    std::set_new_handler(nullptr);
  }

  constexpr std::align_val_t kAlign{128};
  for (int i = 0; i < 1000; ++i) {
    ::operator delete(keep(::operator new(40)));
    ::operator delete (keep(::operator new(40)), std::size_t{40});
    ::operator delete[](keep(::operator new[](40)));
    ::operator delete[](keep(::operator new[](40)), std::size_t{40});
    ::operator delete(keep(::operator new(40, std::nothrow)), std::nothrow);
    ::operator delete[](keep(::operator new[](40, std::nothrow)), std::nothrow);
    ::operator delete(keep(::operator new(40, kAlign)), kAlign);
    ::operator delete (keep(::operator new(40, kAlign)), std::size_t{40}, kAlign);
    ::operator delete[](keep(::operator new[](40, kAlign)), kAlign);
    ::operator delete[](keep(::operator new[](40, kAlign)), std::size_t{40}, kAlign);
    ::operator delete(keep(::operator new(40, kAlign, std::nothrow)), kAlign, std::nothrow);
    ::operator delete[](keep(::operator new[](40, kAlign, std::nothrow)), kAlign, std::nothrow);
    ::operator delete(nullptr);
    ::operator delete[](nullptr);

    Wide* wide = new Wide;
    REQUIRE(reinterpret_cast<std::uintptr_t>(keep(wide)) % 256 == 0);
    delete wide;
    void* nothing = keep(::operator new(0));
    REQUIRE(nothing != nullptr);
    ::operator delete(nothing);
  }
  say("{\"ok\": true, \"pairs\": %d}\n", 14 * 1000);
  return 0;
}
