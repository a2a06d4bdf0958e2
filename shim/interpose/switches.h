// Which hooks do anything: every workaround can be turned off by an option. Set once by the
// session, before the process has a second thread.
#pragma once

namespace hitch::interpose {

struct Switches {
  bool dlsym;
  bool present;
  bool map;
  bool sleep;
};
extern constinit Switches g_switches;

}  // namespace hitch::interpose
