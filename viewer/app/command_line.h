// The words of the command: which there are, what they mean, what somebody may have meant.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace hitch::app {

constexpr int kExitUsage = 2;

// `words` without the program's name. Answers go to `out`, everything else to `errors`. Returns the
// exit status.
int run_command_line(const std::vector<std::string>& words, std::ostream& out,
                     std::ostream& errors);

}  // namespace hitch::app
