# hitch_add_unit(NAME recorder_frames SOURCES a_test.cpp b_test.cpp LIBS hitch_frames)
# One GoogleTest program per tested folder; every TEST becomes a ctest case. The target hitch_unit_tests builds
# them all and nothing else, which is what the sanitizer presets need.
add_custom_target(hitch_unit_tests)
function(hitch_add_unit)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBS" ${ARGN})
  add_executable(${ARG_NAME}_test ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME}_test PRIVATE hitch_warnings ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  add_dependencies(hitch_unit_tests ${ARG_NAME}_test)
  include(GoogleTest)
  gtest_discover_tests(${ARG_NAME}_test TEST_PREFIX "${ARG_NAME}." DISCOVERY_TIMEOUT 60)
endfunction()
