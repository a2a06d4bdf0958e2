// Numbers as people read them. The text report formats every number through these, and nothing
// else.
#pragma once
#include <cstdint>
#include <string>

namespace hitch::render {

std::string count_text(std::uint64_t value);       // 83,910
std::string count_text(double value);              // 310; 12.5 below a hundred when not whole
std::string ms_text(double ns);                    // 13.40 (no unit), for columns of milliseconds
std::string signed_ms_text(double ns);             // +1.80
std::string duration_text(double ns);              // 840 ns, 12.3 us, 13.4 ms, 2.31 s, 4 min 10 s
std::string bytes_text(double bytes);              // 512 B, 33.5 MiB
std::string percent_text(double share);            // 0.25 %, 4.2 %, 92 %
std::string times_text(double factor);             // 9x, 1.5x
std::string date_text(std::uint64_t realtime_ns);  // 2026-11-30 20:21:22 UTC; empty for 0

}  // namespace hitch::render
