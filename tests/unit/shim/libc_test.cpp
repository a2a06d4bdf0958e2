#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "libc/bootstrap_arena.h"
#include "libc/elf_lookup.h"

namespace hitch::libc {
namespace {

const link_map* module_named(const char* part) {
  for (const link_map* module = first_module(); module != nullptr; module = module->l_next) {
    if (module->l_name != nullptr && std::strstr(module->l_name, part) != nullptr) return module;
  }
  return nullptr;
}

TEST(ElfLookup, AgreesWithDlsym) {
  const link_map* libc = module_named("libc.so");
  ASSERT_NE(libc, nullptr);
  void* handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  for (const char* name : {"malloc", "free", "calloc", "realloc", "posix_memalign", "munmap",
                           "nanosleep", "puts", "fopen", "__libc_memalign"}) {
    EXPECT_EQ(find_in_module(libc, name), dlsym(handle, name)) << name;
  }
  EXPECT_EQ(find_in_module(libc, "no_such_function_anywhere"), nullptr);
  dlclose(handle);
}

TEST(ElfLookup, PrefersTheDefaultVersion) {
  // glibc 2.34 and later define dlsym twice: the hidden one is for old binaries.
  const link_map* libc = module_named("libc.so");
  void* newest = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.34");
  if (newest == nullptr) GTEST_SKIP() << "SKIPPED: this glibc is older than 2.34 and has one dlsym";
  EXPECT_EQ(find_in_module(libc, "dlsym"), newest);
}

TEST(ElfLookup, FindsModulesByAddress) {
  const link_map* libc = module_named("libc.so");
  EXPECT_EQ(module_of(reinterpret_cast<std::uintptr_t>(find_in_module(libc, "malloc"))), libc);
  EXPECT_EQ(module_of(16), nullptr);
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  ASSERT_TRUE(module_range(libc, start, end));
  EXPECT_LT(start, reinterpret_cast<std::uintptr_t>(find_in_module(libc, "malloc")));
  EXPECT_GT(end, reinterpret_cast<std::uintptr_t>(find_in_module(libc, "malloc")));
}

TEST(BootstrapArena, ServesAlignedZeroedBlocksUntilItIsFull) {
  auto* first = static_cast<unsigned char*>(bootstrap_calloc(10, 10));
  ASSERT_NE(first, nullptr);
  for (unsigned i = 0; i < 100; ++i) EXPECT_EQ(first[i], 0);
  EXPECT_EQ(bootstrap_usable_size(first), 100u);
  void* page = bootstrap_memalign(4096, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(page) % 4096, 0u);
  std::memcpy(first, "hello", 6);
  auto* moved = static_cast<char*>(bootstrap_realloc(first, 200));
  EXPECT_STREQ(moved, "hello");
  void* out = nullptr;
  EXPECT_EQ(bootstrap_posix_memalign(&out, 3, 1), EINVAL);
  EXPECT_EQ(bootstrap_posix_memalign(&out, 64, 1), 0);
  EXPECT_EQ(bootstrap_calloc(~std::size_t{0}, 2), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  while (bootstrap_malloc(1000) != nullptr) {
  }
  errno = 0;
  EXPECT_EQ(bootstrap_malloc(1000), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  bootstrap_free(moved);
}

}  // namespace
}  // namespace hitch::libc
