// Names fit for a column: demangling, and shortening of what templates make of a name.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace hitch::symbolise {

// Template arguments longer than this in all are shown as <...>.
constexpr std::size_t kMaxTemplateText = 40;

// The complete C++ name (legacy Rust names lose their hash). A name that is not mangled comes back
// unchanged.
std::string demangle(const std::string& mangled);

// Without parameters, return type, clone suffixes and default template arguments:
//   void std::vector<A, std::allocator<A> >::_M_realloc_insert<A const&>(...)
//   -> std::vector<A>::_M_realloc_insert<A const&>
// A text that cannot be read as a C++ name comes back unchanged.
std::string short_name(std::string_view demangled);

}  // namespace hitch::symbolise
