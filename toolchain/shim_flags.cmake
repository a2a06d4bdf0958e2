# Flags of everything that ends up inside the game. Each has a reason:
#   no exceptions, no RTTI: a C++ runtime of ours must never meet the game's (DESIGN 4.8)
#   initial-exec TLS:       one load per hook instead of a call that may allocate
#   no stack protector:     its canary lives in TLS, which does not exist yet in the earliest hooks
#   no-plt-free builtins:   malloc/free bodies must not be turned into calls to malloc/calloc
#   frame pointers:         stack_records.cpp follows them to the hook that runs
#   async unwind tables:    C++ exceptions of the game must pass through our entries
add_library(hitch_shim_flags INTERFACE)
target_compile_options(hitch_shim_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fno-stack-protector;-fno-omit-frame-pointer;-fasynchronous-unwind-tables;-ftls-model=initial-exec;-fno-builtin-malloc;-fno-builtin-calloc;-fno-builtin-realloc;-fno-builtin-free>)
