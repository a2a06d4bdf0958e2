// From what was typed to the file the kernel will run.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "viewer/app/program_file.h"

namespace hitch::app {

// The file a name means: itself when it has a '/', else the first executable in `search_path`
// (colon-separated), else the first that is merely there. Empty: found nowhere.
std::string find_in_path(const std::string& name, const std::string& search_path);

// The named program first; behind a script its interpreter, and behind /usr/bin/env what env
// starts. The last one is what maps the preloaded library. Never empty: a name that is not found
// gives one entry of kind kMissing.
std::vector<ProgramFacts> find_program(const std::string& name, const std::string& search_path,
                                       uid_t user, gid_t group);

}  // namespace hitch::app
