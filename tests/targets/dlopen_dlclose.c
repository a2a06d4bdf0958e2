// Loads and unloads a plugin 50 times: dlopen_dlclose [deepbind]. The plugin is found by RUNPATH
// alone.
#include <dlfcn.h>

#include "say.h"

enum { kLoads = 50, kPairs = 200 };

int main(int argc, char** argv) {
  const int deep = argc > 1 && strcmp(argv[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
  for (int i = 0; i < kLoads; ++i) {
    void* plugin = dlopen("libplugin.so", RTLD_NOW | RTLD_LOCAL | deep);
    REQUIRE(plugin != NULL);
    int (*run)(int) = (int (*)(int))dlsym(plugin, "plugin_run");
    REQUIRE(run != NULL && run(kPairs) == kPairs);
    REQUIRE(dlclose(plugin) == 0);
  }
  REQUIRE(dlopen("libthere-is-no-such.so", RTLD_NOW) == NULL && dlerror() != NULL);
  say("{\"ok\": true, \"loads\": %d, \"allocs\": %d, \"frees\": %d}\n", kLoads,
      kLoads * (kPairs + 1), kLoads * (kPairs + 1));
  return 0;
}
