// The game replaces operator new and delete: its own must be the ones that run.
#include <new>

#include "say.h"

namespace {
int news = 0;
int deletes = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++news;
  void* block = malloc(bytes + 32);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
void operator delete(void* block) noexcept {
  ++deletes;
  free(block);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

int main() {
  for (int i = 0; i < 1000; ++i) {
    int* number = new int(i);
    keep(number);
    delete number;
    int* numbers = new int[8];  // libstdc++'s, which calls ours
    keep(numbers);
    delete[] numbers;
  }
  REQUIRE(news == 2000 && deletes == 2000);
  say("{\"ok\": true, \"allocs\": 2000, \"frees\": 2000}\n");
  return 0;
}
