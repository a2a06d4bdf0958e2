// Facts that make runs comparable: CPU, kernel, governor, huge pages.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace hitch::recorder {

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts machine_facts();

}  // namespace hitch::recorder
