// Facts that make runs comparable: CPU, kernel, governor, huge pages, and what a page fault costs.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace hitch::recorder {

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts machine_facts();
// Median price of touching a fresh 4 KiB page, in ns.
double measure_fault_ns();

}  // namespace hitch::recorder
