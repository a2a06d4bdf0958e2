// What an address is called when no file says more.
#pragma once
#include <cstdint>
#include <string>

#include "viewer/symbolise/symboliser.h"

namespace hitch::symbolise {

// "0x7f00"
std::string to_hex_number(std::uint64_t number);
// File name without folders and without the kernel's " (deleted)".
std::string module_name(const std::string& path);
// "libfoo.so+0x123"
Symbol offset_symbol(const model::Module& module, std::uint64_t address);
// In no module.
Symbol address_symbol(std::uint64_t address);

}  // namespace hitch::symbolise
