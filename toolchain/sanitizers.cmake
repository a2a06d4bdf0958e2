# Sanitizers apply to every target of the build: the shim's core is then a plain library under test, and
# nothing is preloaded (a sanitizer's own malloc must come first in a process). Instrumented code gains little
# from -O2 and takes half as long again to compile with it.
if(HITCH_SANITIZE)
  add_compile_options(-O1 -g1 -fsanitize=${HITCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HITCH_SANITIZE})
  # False in instrumented standard headers (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105562).
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(HITCH_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "HITCH_FUZZ needs Clang's libFuzzer: configure with the preset 'fuzz'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
