// The C++ scope of the public header, in a program that never sees the shim.
#include <hitchtrace/hitchtrace.h>

#include <cstdio>

int main() {
  const hitchtrace::TagScope scope("main");
  std::printf("recording %d\n", hitch_is_recording());
  return 0;
}
