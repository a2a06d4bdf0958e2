// The library whose addresses the test asks for. Each probe_* returns a return address inside a
// function of a known kind. Lines are found by their markers, not by number.
#include <string>
#include <vector>

namespace {
void* volatile g_last;
volatile int g_amount = 1;
}  // namespace

__attribute__((noinline)) static void* here() { return __builtin_return_address(0); }

namespace probe {

struct Particle {
  int x;
};

template <class T, class Allocator>
struct Pool {
  // Not a tail call: the return address must lie in this function.
  __attribute__((noinline)) void* take(int count) {
    g_last = here();  // MARK pool
    return static_cast<char*>(g_last) + (count - count);
  }
};

__attribute__((noinline)) void* in_string(const std::string& text) {
  g_last = here();
  return text.empty() ? nullptr : g_last;
}

__attribute__((always_inline)) inline void* innermost() {
  void* address = here();  // MARK innermost
  g_last = address;
  return g_last;
}

__attribute__((always_inline)) inline void* middle() {
  void* address = innermost();  // MARK middle
  g_last = address;
  return g_last;
}

__attribute__((noinline)) void* outer() {
  void* address = middle();  // MARK outer
  g_last = address;
  return g_last;
}

}  // namespace probe

#define EXPORTED extern "C" __attribute__((visibility("default"), noinline))

namespace probe {
namespace {
struct Local {
  __attribute__((noinline)) void* in_private_class(int amount) {
    g_last = here();
    return amount == 0 ? nullptr : g_last;
  }
};
}  // namespace
}  // namespace probe

EXPORTED void* probe_private() {
  probe::Local local;
  g_last = local.in_private_class(g_amount);
  return g_last;
}

EXPORTED void* probe_exported() {
  g_last = here();  // MARK exported
  return g_last;
}

// Right behind an exported function, and without a name once the file is stripped.
__attribute__((noinline)) static void* hidden_function(int amount) {
  g_last = here();
  return amount == 0 ? nullptr : g_last;
}

EXPORTED void* probe_hidden() {
  g_last = hidden_function(g_amount);
  return g_last;
}

EXPORTED void* probe_pool() {
  probe::Pool<probe::Particle, std::allocator<probe::Particle>> pool;
  g_last = pool.take(3);
  return g_last;
}

EXPORTED void* probe_string() {
  g_last = probe::in_string("x");
  return g_last;
}

EXPORTED void* probe_inlined() {
  g_last = probe::outer();
  return g_last;
}
