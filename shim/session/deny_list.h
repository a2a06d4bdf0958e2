// Programs that are preloaded along with the game but are not it: shells, wrappers, launchers,
// helpers.
#pragma once

namespace hitch::session {

// True when the executable with this base name should not be recorded unless --target names it.
bool is_wrapper(const char* name);

// True for Chromium-style helper processes: some argument starts with "--type=". `arguments` is the
// content of /proc/self/cmdline (zero-separated).
bool is_helper(const char* arguments, unsigned long bytes);

// Shell wildcards * and ?; no brackets. Matches the whole name.
bool matches(const char* pattern, const char* name);

}  // namespace hitch::session
