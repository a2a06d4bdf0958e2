# Warnings are errors everywhere, for both compilers. Link hitch_warnings privately.
add_library(hitch_warnings INTERFACE)
target_compile_options(hitch_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Werror>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Woverloaded-virtual>
  # False in GCC 12 at -O3 for `"text" + std::string` (https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651).
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
target_include_directories(hitch_warnings INTERFACE ${PROJECT_SOURCE_DIR}/shim ${PROJECT_SOURCE_DIR})
if(HITCH_ASSERTS)
  target_compile_definitions(hitch_warnings INTERFACE HITCH_ASSERTS=1)
endif()
