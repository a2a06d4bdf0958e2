// An allocator for the impossible case that none can be found in the process, so that nothing ever
// aborts: 64 KiB, never reused. Thread-safe. A missing block is nullptr, as the real functions
// answer.
#pragma once
#include <cstddef>

namespace hitch::libc {

void* bootstrap_malloc(std::size_t bytes);
void* bootstrap_calloc(std::size_t count, std::size_t bytes);
void* bootstrap_realloc(void* block, std::size_t bytes);
void* bootstrap_memalign(std::size_t alignment, std::size_t bytes);
int bootstrap_posix_memalign(void** block, std::size_t alignment, std::size_t bytes);
void* bootstrap_page_aligned(std::size_t bytes);
void bootstrap_free(void* block);
std::size_t bootstrap_usable_size(void* block);

}  // namespace hitch::libc
