// The sleep calls of frame limiters. Each is a hook of its own: inside glibc they do not call one
// another through anything that could be intercepted. All are cancellation points; the scopes own
// nothing.
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/compiler.h"
#include "libc/real_libc.h"
#include "present/present.h"

using hitch::libc::g_real;
using hitch::present::SleepScope;

HITCH_EXPORT int nanosleep(const timespec* duration, timespec* remaining) {
  hitch::libc::resolve_real_libc();
  const SleepScope scope;
  return g_real.nanosleep(duration, remaining);
}

HITCH_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* duration,
                                 timespec* remaining) {
  hitch::libc::resolve_real_libc();
  const SleepScope scope;
  return g_real.clock_nanosleep(clock, flags, duration, remaining);
}

HITCH_EXPORT int usleep(useconds_t microseconds) {
  hitch::libc::resolve_real_libc();
  const SleepScope scope;
  return g_real.usleep(microseconds);
}
