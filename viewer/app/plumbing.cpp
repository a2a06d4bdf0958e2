#include "viewer/app/plumbing.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

namespace hitch::app {
namespace {

// Modules that are plumbing as a whole.
constexpr std::string_view kModules[] = {"libstdc++.so",     "libc++.so", "libc++abi.so",
                                         "libhitchtrace.so", "libc.so.",  "ld-linux"};
// Beginnings of function names.
constexpr std::string_view kFunctions[] = {
    "operator new",  "operator delete", "std::",          "__gnu_cxx::", "g_malloc",
    "g_realloc",     "g_try_malloc",    "g_slice_",       "g_strdup",    "g_memdup",
    "g_new",         "SDL_malloc",      "SDL_calloc",     "SDL_realloc", "SDL_strdup",
    "CRYPTO_malloc", "CRYPTO_zalloc",   "CRYPTO_realloc", "av_malloc",   "av_realloc",
    "xmalloc",       "xcalloc",         "xrealloc",       "xstrdup"};

bool begins_with(const std::string& text, std::string_view head) {
  return text.compare(0, head.size(), head) == 0;
}

}  // namespace

bool Plumbing::is_plumbing(const std::string& module, const std::string& function) const {
  if (std::any_of(std::begin(kModules), std::end(kModules),
                  [&](std::string_view head) { return begins_with(module, head); }) ||
      std::any_of(std::begin(kFunctions), std::end(kFunctions),
                  [&](std::string_view head) { return begins_with(function, head); })) {
    return true;
  }
  // A template's printed name begins with what it returns: "void std::vector<...>::emplace".
  const std::size_t space = function.find(' ');
  if (space != std::string::npos && space < function.find('<') &&
      (function.compare(space + 1, 5, "std::") == 0 ||
       function.compare(space + 1, 11, "__gnu_cxx::") == 0)) {
    return true;
  }
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
    const std::string text =
        pattern.find('!') != std::string::npos ? module + "!" + function : function;
    return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
  });
}

bool Plumbing::holds(const symbolise::Symbol& symbol) const {
  return is_plumbing(symbol.module, symbol.function) &&
         std::all_of(symbol.inlined.begin(), symbol.inlined.end(),
                     [&](const symbolise::SourceEntry& entry) {
                       return is_plumbing(symbol.module, entry.function);
                     });
}

}  // namespace hitch::app
