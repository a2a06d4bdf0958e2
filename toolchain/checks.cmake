# Checks of the tree and of what was built, as ctest cases named check.*. Analysis by clang-tidy takes minutes and
# is left to toolchain/test.sh: `ctest -C Tidy -R check.tidy` runs it by hand.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(checks_dir ${PROJECT_SOURCE_DIR}/toolchain)

add_test(NAME check.includes COMMAND Python3::Interpreter ${checks_dir}/check_includes.py)
add_test(NAME check.options COMMAND Python3::Interpreter ${checks_dir}/generate_options.py --check)
add_test(NAME check.tidy CONFIGURATIONS Tidy
  COMMAND Python3::Interpreter ${checks_dir}/check_tidy.py ${PROJECT_BINARY_DIR})
set_tests_properties(check.tidy PROPERTIES RUN_SERIAL ON TIMEOUT 1200)

find_program(HITCH_MAN NAMES man)
if(HITCH_MAN)
  # groff's warnings go to stderr; the page itself is of no interest here.
  add_test(NAME check.man COMMAND sh -c
    "test -z \"$(LC_ALL=C.UTF-8 ${HITCH_MAN} --warnings -E UTF-8 -l ${PROJECT_SOURCE_DIR}/viewer/app/hitchtrace.1 2>&1 >/dev/null | tee /dev/stderr)\"")
endif()

find_program(HITCH_CLANG_FORMAT NAMES clang-format-14 clang-format)
if(HITCH_CLANG_FORMAT)
  add_test(NAME check.format COMMAND ${checks_dir}/check_format.sh)
endif()

if(TARGET hitchtrace_shim)
  add_test(NAME check.exports
    COMMAND ${checks_dir}/check_exports.sh $<TARGET_FILE:hitchtrace_shim> ${PROJECT_SOURCE_DIR}/shim/exports.map)
  add_test(NAME check.elf COMMAND ${checks_dir}/check_elf.sh $<TARGET_FILE:hitchtrace_shim>)
  if(TARGET hitchtrace-record)
    add_test(NAME check.glibc_floor
      COMMAND ${checks_dir}/check_glibc_floor.sh $<TARGET_FILE:hitchtrace_shim> $<TARGET_FILE:hitchtrace-record>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    add_test(NAME check.fast_path
      COMMAND Python3::Interpreter ${checks_dir}/check_fast_path.py $<TARGET_FILE:hitchtrace_shim>
              ${PROJECT_SOURCE_DIR}/tests/golden/fast_path.x86_64.golden ${CMAKE_OBJDUMP})
  endif()
  add_test(NAME check.install COMMAND ${checks_dir}/check_install.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(check.install PROPERTIES TIMEOUT 300)
endif()
