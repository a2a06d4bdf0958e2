# What `cmake --install` and the .deb hold besides the files that are installed beside their targets: headers,
# CMake package, pkg-config file, licence and changelog.
include(CMakePackageConfigHelpers)
set(packaging_dir ${PROJECT_SOURCE_DIR}/toolchain/packaging)
set(package_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hitchtrace)

# hitchtrace::api: the headers alone; every call is inert unless the shim is preloaded.
# hitchtrace::hitchtrace: links the shim, so that it is always in the process.
add_library(hitch_api INTERFACE)
target_include_directories(hitch_api INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/shim/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
set_target_properties(hitch_api PROPERTIES EXPORT_NAME api)
install(TARGETS hitch_api EXPORT hitchtraceTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/shim/include/hitchtrace DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

if(TARGET hitchtrace_shim)
  set_target_properties(hitchtrace_shim PROPERTIES EXPORT_NAME hitchtrace)
  install(TARGETS hitchtrace_shim EXPORT hitchtraceTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
if(TARGET hitchtrace-record)
  install(TARGETS hitchtrace-record RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/hitchtrace)
endif()

install(EXPORT hitchtraceTargets NAMESPACE hitchtrace:: DESTINATION ${package_cmake_dir})
configure_package_config_file(${packaging_dir}/hitchtraceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/hitchtraceConfig.cmake INSTALL_DESTINATION ${package_cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hitchtraceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hitchtraceConfig.cmake ${PROJECT_BINARY_DIR}/hitchtraceConfigVersion.cmake
  DESTINATION ${package_cmake_dir})

# The .pc file finds its prefix from where it lies, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
configure_file(${packaging_dir}/hitchtrace.pc.in ${PROJECT_BINARY_DIR}/hitchtrace.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/hitchtrace.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${packaging_dir}/copyright
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/shim/format/FORMAT.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hitchtrace)
set(CPACK_PACKAGE_VENDOR "The hitchtrace authors")
set(CPACK_PACKAGE_CONTACT "The hitchtrace authors <hitchtrace@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "finds out who eats the frame of an unmodified Linux game")
set(CPACK_PACKAGE_DESCRIPTION
"hitchtrace preloads a library into a game, times every allocator call, finds
the frame boundaries by itself and reports which frames hitched and why:
allocator time, page faults, waiting, or something that is not memory.
It needs no change to the game and no source of it.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libdebuginfod1, bash-completion")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${packaging_dir}/triggers)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
string(TIMESTAMP HITCH_PACKAGE_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(${packaging_dir}/changelog.Debian.in ${PROJECT_BINARY_DIR}/changelog.Debian @ONLY)
set(HITCH_CHANGELOG ${PROJECT_BINARY_DIR}/changelog.Debian)
configure_file(${packaging_dir}/debian_docs.cmake.in ${PROJECT_BINARY_DIR}/debian_docs.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/debian_docs.cmake)
include(CPack)
