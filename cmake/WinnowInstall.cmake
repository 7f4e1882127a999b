# What `cmake --install` puts where, and what packages are made of. Two components:
#   program      winnow, winnow-doctor, winnow-elastic, man pages, completion, docs
#   development  headers, the library shared and static, what find_package(winnow) reads
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All that is below tools/, in one library of each kind. With one archive of each folder instead, users
# would have to know 35 of them and their order.
get_property(libraries GLOBAL PROPERTY WINNOW_LIBRARIES)
list(TRANSFORM libraries PREPEND winnow_ OUTPUT_VARIABLE targets)
set(archives "")
foreach(target IN LISTS targets)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(APPEND archives ${target})
  endif()
endforeach()

set(static ${PROJECT_BINARY_DIR}/static/libwinnow.a)
set(script "CREATE ${static}\n")
foreach(archive IN LISTS archives)
  string(APPEND script "ADDLIB $<TARGET_FILE:${archive}>\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/static/archives.mri CONTENT "${script}SAVE\nEND\n")
add_custom_command(OUTPUT ${static}
  COMMAND sh -c "${CMAKE_AR} -M < archives.mri"
  DEPENDS ${archives} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/static VERBATIM)

# Libraries of others that it calls, by the names that the linker knows: users of the static one need them, too.
set(WINNOW_LINKED tbb fmt lmdb xxhash archive jpeg png tiff webp z dnnl gomp pthread)
get_property(plugins GLOBAL PROPERTY WINNOW_MPI_PLUGINS)
if(plugins)
  list(APPEND WINNOW_LINKED dl)
elseif(WINNOW_MPI)
  list(APPEND WINNOW_LINKED ${MPI_C_LIBRARIES})
endif()
set(cards "")
if(WINNOW_CUDA)
  set(cards CUDA::cudart_static CUDA::cublasLt cudnn::cudnn $<TARGET_NAME_IF_EXISTS:nccl::nccl>)
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/library.cpp CONTENT "// The library is made of archives.\n")
set_property(SOURCE ${PROJECT_BINARY_DIR}/library.cpp PROPERTY OBJECT_DEPENDS ${static})
add_library(winnow_shared SHARED ${PROJECT_BINARY_DIR}/library.cpp)
set_target_properties(winnow_shared PROPERTIES OUTPUT_NAME winnow EXPORT_NAME winnow LINK_DEPENDS ${static}
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(winnow_shared PRIVATE
  -Wl,--whole-archive ${static} -Wl,--no-whole-archive ${WINNOW_LINKED} ${cards})
target_compile_features(winnow_shared INTERFACE cxx_std_20)
target_include_directories(winnow_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/winnow>)

# Man pages, pages of Markdown and completion, as the program itself writes them. Debian wants pages compressed, without a date.
set(reference ${PROJECT_BINARY_DIR}/reference)
add_custom_command(OUTPUT ${reference}/written
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND winnow reference --format man --to ${reference}/man
  COMMAND winnow reference --format markdown --to ${reference}/markdown
  COMMAND winnow reference --format bash --to ${reference}/bash
  COMMAND winnow reference --format zsh --to ${reference}/zsh
  COMMAND winnow reference --format fish --to ${reference}/fish
  COMMAND sh -c "exec gzip -9n ${reference}/man/*.1"
  COMMAND ${CMAKE_COMMAND} -E touch ${reference}/written
  DEPENDS winnow VERBATIM)
# Debian's form of CHANGELOG.md.
set(changelog ${PROJECT_BINARY_DIR}/changelog.gz)
add_custom_command(OUTPUT ${changelog}
  COMMAND sh -c "${PROJECT_SOURCE_DIR}/packaging/debian-changelog ${PROJECT_SOURCE_DIR}/CHANGELOG.md '${WINNOW_MAINTAINER}' | gzip -9n > ${changelog}"
  DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/packaging/debian-changelog VERBATIM)
add_custom_target(winnow_installed ALL DEPENDS ${static} ${reference}/written ${changelog})

set(doc ${CMAKE_INSTALL_DATADIR}/doc/winnow)
install(TARGETS winnow RUNTIME COMPONENT program)
install(TARGETS ${plugins} LIBRARY DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(PROGRAMS tools/winnow-doctor tools/winnow-elastic TYPE BIN COMPONENT program)
install(DIRECTORY ${reference}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${reference}/bash/winnow DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${reference}/zsh/_winnow DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${reference}/fish/winnow.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES packaging/copyright ${changelog} DESTINATION ${doc} COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${doc} COMPONENT program
  FILES_MATCHING PATTERN *.md PATTERN *.json PATTERN *.toml PATTERN *.png PATTERN *.webp PATTERN *.svg PATTERN *.py PATTERN stylesheets EXCLUDE
  PATTERN photos EXCLUDE PATTERN cards.py EXCLUDE)

install(DIRECTORY ${reference}/markdown/ DESTINATION ${doc}/reference/commands COMPONENT program)

install(TARGETS winnow_shared EXPORT winnowTargets
  LIBRARY COMPONENT development NAMELINK_COMPONENT development)
if(NOT WINNOW_CUDA)  # who linked it would need NVIDIA's libraries, too, wherever these are
  install(FILES ${static} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
get_property(headers GLOBAL PROPERTY WINNOW_HEADERS)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/winnow/${folder} COMPONENT development)
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/winnow)
install(EXPORT winnowTargets NAMESPACE winnow:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(packaging/winnowConfig.cmake.in ${PROJECT_BINARY_DIR}/winnowConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/winnowConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/winnowConfig.cmake ${PROJECT_BINARY_DIR}/winnowConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
install(FILES packaging/copyright ${changelog} DESTINATION ${doc}-dev COMPONENT development)
install(DIRECTORY tests/package/example/ DESTINATION ${doc}-dev/examples COMPONENT development)

# Packages: cpack -G DEB in the build folder, or tools/package.
set(CPACK_PACKAGE_NAME winnow)
set(CPACK_PACKAGE_VENDOR "${WINNOW_MAINTAINER}")
set(CPACK_PACKAGE_CONTACT "${WINNOW_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME winnow)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "openmpi-bin, openssh-client")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "dataset-fashion-mnist, python3-numpy, python3-pil")  # for example_photos.py
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "It reads image data sets of many formats, finds duplicates and leaks
between splits, shows them for review, and trains networks on what is kept,
on one machine or on many by MPI.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME winnow-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS
  "libarchive-dev, libdnnl-dev, libfmt-dev, libjpeg62-turbo-dev, liblmdb-dev, libopenmpi-dev, libpng-dev, libtbb-dev, libtiff-dev, libtomlplusplus-dev, libwebp-dev, libxxhash-dev, zlib1g-dev")
# Not by CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS, which knows no components.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/shlibs @ONLY
  CONTENT "libwinnow @PROJECT_VERSION_MAJOR@.@PROJECT_VERSION_MINOR@ winnow-dev (>= @PROJECT_VERSION@)\n")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers ${PROJECT_BINARY_DIR}/shlibs)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and libraries for C++ programs that read caches of images, find
duplicates or train, by find_package(winnow) of CMake.")
include(CPack)
