// Which functions of a callstack only pass an allocation on: operator new, the standard library's
// containers, wrappers of well-known libraries. Nobody looks for those.
#pragma once
#include <string>
#include <vector>

#include "viewer/symbolise/symboliser.h"

namespace hitch::app {

class Plumbing {
 public:
  // `patterns`: shell wildcards for further functions, "module!function" or the function alone.
  explicit Plumbing(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  // True when the function, and all that is inlined at the address, only pass calls on.
  bool holds(const symbolise::Symbol& symbol) const;

 private:
  bool is_plumbing(const std::string& module, const std::string& function) const;

  std::vector<std::string> patterns_;
};

}  // namespace hitch::app
