// Run-times are known by their modules, and nothing else is taken for one.
#include "viewer/analyse/managed_heaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hitch::analyse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

model::Trace with_modules(const std::vector<std::string>& paths) {
  model::Trace trace;
  for (const std::string& path : paths) {
    model::Module module;
    module.path = path;
    trace.modules.push_back(module);
  }
  return trace;
}

std::vector<std::string> runtimes(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const ManagedHeap& heap : managed_heaps_of(with_modules(paths)))
    names.push_back(heap.runtime);
  return names;
}

TEST(ManagedHeaps, AreKnownByTheNamesOfTheirModules) {
  EXPECT_THAT(runtimes({"/opt/game/game_Data/MonoBleedingEdge/x86_64/libmonobdwgc-2.0.so"}),
              ElementsAre("Mono (Unity, Boehm collector)"));
  EXPECT_THAT(runtimes({"/usr/lib/libmonosgen-2.0.so.1", "/usr/lib/libmono-2.0.so"}),
              ElementsAre("Mono"));
  EXPECT_THAT(runtimes({"/opt/game/GameAssembly.so", "/usr/lib/libgc.so.1.5.1"}),
              ElementsAre("Unity IL2CPP (Boehm collector)", "Boehm collector"));
  EXPECT_THAT(runtimes({"/usr/share/dotnet/libcoreclr.so", "/usr/share/dotnet/libclrjit.so"}),
              ElementsAre(".NET"));
  EXPECT_THAT(runtimes({"/opt/jre/lib/server/libjvm.so", "libcef.so", "/usr/lib/libnode.so.108"}),
              ElementsAre("Java", "V8 (JavaScript)"));
  EXPECT_THAT(runtimes({"/usr/lib/libluajit-5.1.so.2", "/usr/lib/liblua5.4.so.0",
                        "/usr/lib/libpython3.11.so.1.0", "/usr/lib/libhl.so",
                        "/usr/lib/libneko.so.2", "/usr/lib/libmozjs78-ps-release.so"}),
              ElementsAre("LuaJIT", "Lua", "CPython", "HashLink", "Neko (Boehm collector)",
                          "SpiderMonkey (JavaScript)"));
}

TEST(ManagedHeaps, NamesThatOnlyBeginAlikeAreNone) {
  EXPECT_THAT(runtimes({"/lib/libgcc_s.so.1", "/usr/lib/libgcrypt.so.20", "/usr/lib/libnodeset.so",
                        "/usr/lib/libMonoPosixHelper.so", "/usr/lib/libmonochrome.so",
                        "/usr/lib/libhlapi.so", "/opt/libjvm/libother.so", "/opt/game/game", ""}),
              IsEmpty());
}

TEST(ManagedHeaps, SayWhatOfThemIsCounted) {
  const auto heaps = managed_heaps_of(
      with_modules({"/a/libluajit-5.1.so.2", "/b/liblua5.3.so.0", "/c/libpython3.11.so.1.0"}));
  ASSERT_EQ(heaps.size(), 3u);
  EXPECT_EQ(heaps[0].source, HeapSource::kOwn);
  EXPECT_EQ(heaps[1].source, HeapSource::kAllocator);
  EXPECT_EQ(heaps[2].source, HeapSource::kOwnSmall);
  EXPECT_EQ(heaps[2].module, "libpython3.11.so.1.0");
}

}  // namespace
}  // namespace hitch::analyse
