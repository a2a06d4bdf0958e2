// Another tool's dlsym, to be preloaded before or after the shim. It counts and passes on.
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int other_dlsym_calls = 0;

__attribute__((visibility("default"))) void* dlsym(void* handle, const char* name) {
  static void* (*next)(void*, const char*);
  if (next == NULL) next = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (next == NULL) next = (void* (*)(void*, const char*))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  ++other_dlsym_calls;
  return next == NULL ? NULL : next(handle, name);
}
