# hitch_add_unit(NAME recorder_frames SOURCES a_test.cpp b_test.cpp LIBS hitch_frames)
# One GoogleTest program per tested folder; every TEST becomes a ctest case.
function(hitch_add_unit)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBS" ${ARGN})
  add_executable(${ARG_NAME}_test ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME}_test PRIVATE hitch_warnings ${ARG_LIBS} GTest::gtest_main GTest::gmock)
  include(GoogleTest)
  gtest_discover_tests(${ARG_NAME}_test TEST_PREFIX "${ARG_NAME}." DISCOVERY_TIMEOUT 60)
endfunction()
