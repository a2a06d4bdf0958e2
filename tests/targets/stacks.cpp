// Allocates on stacks of every shape: stacks [SHAPE]. All of them when none is named, but jit,
// whose stacks cannot be walked.
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "say.h"

namespace {

std::uint32_t g_random = 12345;
std::uint32_t next_random() {
  g_random = g_random * 1664525u + 1013904223u;
  return g_random >> 16;
}

[[gnu::noinline]] void allocate() {
  char* block = static_cast<char*>(keep(malloc(24)));
  block[0] = 1;
  free(block);
}

// A random call tree of plain functions, ones with alloca (CFA from rbp), ones that align their
// stack (CFA from memory) and ones that use rbp for something else.
int tree(int depth);
[[gnu::noinline]] int plain(int depth) {
  volatile char local[40];
  local[0] = 1;
  return tree(depth) + local[0];
}
[[gnu::noinline]] int with_alloca(int depth) {
  auto* local = static_cast<volatile char*>(alloca(32 + next_random() % 8 * 16));
  local[0] = 1;
  return tree(depth) + local[0];
}
[[gnu::noinline]] int aligned(int depth) {
  alignas(64) volatile char local[128];
  local[0] = 1;
  return tree(depth) + local[0];
}
[[gnu::noinline]] int many_registers(int depth) {
  int sum[6] = {};
  for (int& part : sum) part = static_cast<int>(next_random());
  const int below = tree(depth);
  asm volatile("" : : "r"(sum[0]), "r"(sum[1]), "r"(sum[2]), "r"(sum[3]), "r"(sum[4]), "r"(sum[5]));
  return below + 1;
}
[[gnu::noinline]] int in_tail_position(int depth) { return tree(depth); }
[[gnu::noinline]] int tree(int depth) {
  allocate();
  if (depth == 0) return 1;
  switch (next_random() % 5) {
    case 0:
      return plain(depth - 1);
    case 1:
      return with_alloca(depth - 1) + 1;
    case 2:
      return aligned(depth - 1) + 2;
    case 3:
      return many_registers(depth - 1) + 3;
    default:
      return in_tail_position(depth - 1);
  }
}
void shape_tree() {
  for (int i = 0; i < 4000; ++i) REQUIRE(tree(static_cast<int>(next_random() % 14)) > 0);
}

struct Allocates {
  ~Allocates() { allocate(); }
};
[[gnu::noinline]] void throw_from(int depth) {
  const Allocates on_the_way;
  if (depth == 0) throw std::runtime_error("thrown");
  throw_from(depth - 1);
}
void shape_exceptions() {
  int caught = 0;
  for (int i = 0; i < 200; ++i) {
    try {
      throw_from(i % 7);
    } catch (const std::runtime_error&) {
      allocate();
      ++caught;
    }
  }
  REQUIRE(caught == 200);
}

jmp_buf g_back;
volatile int g_jumps = 1;
[[gnu::noinline]] void jump_from(int depth) {
  allocate();
  if (depth == 0) {
    if (g_jumps != 0) longjmp(g_back, 1);
    return;
  }
  jump_from(depth - 1);
  allocate();
}
[[gnu::noinline]] void jump_once(int depth) {
  if (setjmp(g_back) == 0) jump_from(depth);
  allocate();
}
void shape_longjmp() {
  for (int i = 0; i < 500; ++i) jump_once(i % 9);
}

// Coroutines on stacks of their own, some of them given back and mapped again at another size.
ucontext_t g_scheduler;
struct Coroutine {
  ucontext_t context;
  char* stack;
  std::size_t bytes;
  bool done;
};
Coroutine g_coroutines[4];
void coroutine_body(int index) {
  Coroutine& self = g_coroutines[index];
  for (int i = 0; i < 20; ++i) {
    REQUIRE(tree(3 + index) > 0);
    swapcontext(&self.context, &g_scheduler);
  }
  self.done = true;
  swapcontext(&self.context, &g_scheduler);
}
[[gnu::noinline]] void start_coroutine(int index, std::size_t bytes) {
  Coroutine& c = g_coroutines[index];
  c.bytes = bytes;
  c.stack = static_cast<char*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(c.stack != MAP_FAILED && getcontext(&c.context) == 0);
  c.context.uc_stack.ss_sp = c.stack;
  c.context.uc_stack.ss_size = bytes;
  c.context.uc_link = nullptr;
  c.done = false;
  makecontext(&c.context, reinterpret_cast<void (*)()>(coroutine_body), 1, index);
}
void shape_coroutines() {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 4; ++i) {
      start_coroutine(i, (8u + static_cast<unsigned>((round + i) % 5) * 8u) * 4096u);
    }
    for (bool more = true; more;) {
      more = false;
      for (Coroutine& c : g_coroutines) {
        if (c.done) continue;
        swapcontext(&g_scheduler, &c.context);
        allocate();
        more = true;
      }
    }
    for (Coroutine& c : g_coroutines) munmap(c.stack, c.bytes);
  }
}

// As assembly fiber libraries do it: the new stack begins with nothing.
extern "C" void run_on(void* top, void (*body)());
asm(R"(
        .text
        .type run_on, @function
run_on: .cfi_startproc
        pushq %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        movq %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq %rdi, %rsp
        call *%rsi
        movq %rbp, %rsp
        popq %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size run_on, .-run_on
)");
void foreign_body() { REQUIRE(tree(6) > 0); }
void shape_foreign() {
  constexpr std::size_t kBytes = 64 * 1024;
  for (int i = 0; i < 50; ++i) {
    char* stack = static_cast<char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(stack != MAP_FAILED);
    run_on(stack + kBytes, foreign_body);
    munmap(stack, kBytes);
  }
}

// A handler on its own stack, over the thread's stack and over a foreign one.
volatile sig_atomic_t g_handled = 0;
void handle(int) {
  REQUIRE(tree(2) > 0);
  g_handled = g_handled + 1;
}
[[gnu::noinline]] void raise_from(int depth) {
  if (depth == 0) {
    raise(SIGUSR1);
    return;
  }
  raise_from(depth - 1);
  allocate();
}
void raising_body() { raise_from(5); }
void shape_signals() {
  static char stack[64 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  REQUIRE(sigaltstack(&alternate, nullptr) == 0);
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_ONSTACK;
  REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
  for (int i = 0; i < 200; ++i) raise_from(i % 12);
  char* foreign = static_cast<char*>(
      mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int i = 0; i < 50; ++i) run_on(foreign + 65536, raising_body);
  munmap(foreign, 65536);
  action.sa_flags = 0;
  REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
  for (int i = 0; i < 200; ++i) raise_from(i % 12);
  REQUIRE(g_handled == 450);
}

// Strikes while the thread is nearly always inside the vDSO, and never inside the allocator.
volatile sig_atomic_t g_ticks = 0;
void tick(int) {
  allocate();
  g_ticks = g_ticks + 1;
}
void shape_vdso() {
  struct sigaction action {};
  action.sa_handler = tick;
  REQUIRE(sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval every = {{0, 500}, {0, 500}};
  REQUIRE(setitimer(ITIMER_REAL, &every, nullptr) == 0);
  timespec now{};
  while (g_ticks < 200) clock_gettime(CLOCK_MONOTONIC, &now);
  const itimerval never = {};
  REQUIRE(setitimer(ITIMER_REAL, &never, nullptr) == 0);
}

[[gnu::noinline]] int recurse(int depth) {
  if (depth % 16 == 0) allocate();
  if (depth == 0) return 1;
  return recurse(depth - 1) + 1;
}
void shape_recursion() {
  for (int i = 0; i < 20; ++i) REQUIRE(recurse(2000) == 2001);
}

void* small_thread(void*) {
  REQUIRE(tree(5) > 0);
  return nullptr;
}
void shape_threads() {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  for (int i = 0; i < 60; ++i) {
    pthread_t thread;
    REQUIRE(pthread_attr_setstacksize(&attributes,
                                      65536u + static_cast<unsigned>(i % 3) * 65536u) == 0);
    REQUIRE(pthread_create(&thread, &attributes, small_thread, nullptr) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
  }
}

// Code without unwind information: calls its argument and returns.
void shape_jit() {
  const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  memcpy(page, code, sizeof code);
  REQUIRE(mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
  void (*call)(void (*)()) = nullptr;
  memcpy(&call, &page, sizeof call);
  for (int i = 0; i < 300; ++i) call(allocate);
}

constexpr struct {
  const char* name;
  void (*run)();
  bool by_default;
} kShapes[] = {{"tree", shape_tree, true},       {"exceptions", shape_exceptions, true},
               {"longjmp", shape_longjmp, true}, {"coroutines", shape_coroutines, true},
               {"foreign", shape_foreign, true}, {"signals", shape_signals, true},
               {"vdso", shape_vdso, true},       {"recursion", shape_recursion, true},
               {"threads", shape_threads, true}, {"jit", shape_jit, false}};

}  // namespace

int main(int argc, char** argv) {
  int ran = 0;
  for (const auto& shape : kShapes) {
    if (argc > 1 ? strcmp(argv[1], shape.name) != 0 : !shape.by_default) continue;
    shape.run();
    ++ran;
  }
  REQUIRE(ran > 0);
  say("{\"ok\": true, \"shapes\": %d}\n", ran);
  return 0;
}
