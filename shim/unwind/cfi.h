// Call frame information: .eh_frame and .eh_frame_hdr (Linux Standard Base 5, 10.6; DWARF 5, 6.4),
// read from the mapped module. No allocation, no lock, no call: valid in any hook.
#pragma once
#include <cstdint>

#include "unwind/rule.h"

namespace hitch::unwind {

// The mapped module; nothing outside [start, end) is read.
struct ModuleImage {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  std::uintptr_t eh_frame_hdr = 0;  // address of PT_GNU_EH_FRAME's content; 0: it has none
};

// The rule at `pc`: for a return address, pass the address minus one, so that the call itself is
// looked up. kUnknown when the module says nothing about it.
Rule rule_at(const ModuleImage& module, std::uintptr_t pc);

// True when a function with rules begins exactly at `pc`.
bool starts_function(const ModuleImage& module, std::uintptr_t pc);

}  // namespace hitch::unwind
