#include "viewer/app/plumbing.h"

#include <gtest/gtest.h>

namespace hitch::app {
namespace {

bool held(const std::string& module, const std::string& function,
          const std::vector<std::string>& patterns = {}) {
  symbolise::Symbol symbol;
  symbol.module = module;
  symbol.function = function;
  return Plumbing(patterns).holds(symbol);
}

TEST(Plumbing, IsWhatOnlyPassesAllocationsOn) {
  EXPECT_TRUE(held("game", "operator new"));
  EXPECT_TRUE(held("libstdc++.so.6", "anything at all"));
  EXPECT_TRUE(held("game", "std::vector<...>::_M_realloc_insert"));
  EXPECT_TRUE(held("game", "void std::vector<...>::emplace_back"));
  EXPECT_TRUE(held("game", "__gnu_cxx::new_allocator<...>::allocate"));
  EXPECT_TRUE(held("libglib-2.0.so.0", "g_malloc0"));
  EXPECT_TRUE(held("libc.so.6", "strdup"));
}

TEST(Plumbing, TheGamesOwnFunctionsAreNot) {
  EXPECT_FALSE(held("game", "Scene::grow"));
  EXPECT_FALSE(held("game", "bool Scene::is<std::string>"));
  EXPECT_FALSE(held("game", "my_std::vector"));
  EXPECT_FALSE(held("libSDL2-2.0.so.0", "SDL_CreateTexture"));
}

TEST(Plumbing, UserPatternsMeanAFunctionOrAModulesFunction) {
  EXPECT_TRUE(held("game", "Heap::allocate", {"Heap::*"}));
  EXPECT_FALSE(held("game", "Scene::Heap", {"Heap::*"}));
  EXPECT_TRUE(held("libengine.so", "fill", {"libengine.so*!*"}));
  EXPECT_FALSE(held("game", "fill", {"libengine.so*!*"}));
}

TEST(Plumbing, AnInlinedFunctionOfTheGameMakesTheDifference) {
  symbolise::Symbol symbol;
  symbol.module = "game";
  symbol.function = "std::vector<...>::push_back";
  symbol.inlined = {{"std::allocator<...>::allocate", "", 0}};
  EXPECT_TRUE(Plumbing({}).holds(symbol));
  symbol.inlined.push_back({"Scene::add", "scene.cpp", 12});
  EXPECT_FALSE(Plumbing({}).holds(symbol));
}

}  // namespace
}  // namespace hitch::app
