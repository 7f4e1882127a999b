# The two functions every folder's CMakeLists.txt is made of.

add_library(winnow_options INTERFACE)
add_library(winnow::options ALIAS winnow_options)
target_compile_features(winnow_options INTERFACE cxx_std_20)
set(warnings -Wall -Wextra -Wconversion -Wno-psabi)
target_compile_options(winnow_options INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>")
# What GCC 12 sees in the standard library's string and vector at -O3 alone (its PR 105329 and kin);
# the other build types keep these warnings.
target_compile_options(winnow_options INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-free-nonheap-object>")
# nvcc hands the host's half to the C++ compiler.
list(JOIN warnings "," host_warnings)
target_compile_options(winnow_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_warnings}>)
if(WINNOW_WARNINGS_AS_ERRORS)
  target_compile_options(winnow_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(WINNOW_CUDA_WARNINGS_AS_ERRORS)
  target_compile_options(winnow_options INTERFACE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Werror>")
endif()
if(WINNOW_SANITIZE)
  # O1 instead of the build type's level: the sanitized tests stay fast enough and traces readable.
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${WINNOW_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-O1>")
  add_link_options(-fsanitize=${WINNOW_SANITIZE})
endif()
if(WINNOW_FUZZ)
  include(WinnowFuzz)
endif()

# winnow_together(<target> [<source> ...]): with WINNOW_TOGETHER, eight sources at a time are compiled as one,
# but each of those named, and each with options of its own, alone.
function(winnow_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WINNOW_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(WINNOW_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # it takes a source that is included for a header
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# winnow_library(<name> [SOURCES ...] [ALONE ...] [HEADERS ...] [DEPS ...] [PRIVATE_DEPS ...])
# Makes winnow_<name>, linked everywhere as winnow::<name>. DEPS appear in our headers, PRIVATE_DEPS
# do not. HEADERS are compiled alone by the target all_verify_interface_header_sets. ALONE are those of
# SOURCES that have private names of others here.
function(winnow_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;ALONE;HEADERS;DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "winnow_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(scope PUBLIC)
  if(arg_SOURCES)
    add_library(winnow_${name} STATIC ${arg_SOURCES})
    winnow_together(winnow_${name} ${arg_ALONE})
    target_link_libraries(winnow_${name} PRIVATE winnow::options ${arg_PRIVATE_DEPS})
  else()
    add_library(winnow_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(winnow::${name} ALIAS winnow_${name})
  target_compile_features(winnow_${name} ${scope} cxx_std_20)
  target_sources(winnow_${name} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(winnow_${name} ${scope} ${arg_DEPS})
  # What is installed (WinnowInstall.cmake): everything below tools/.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  if(NOT folder MATCHES "^tools/")
    list(TRANSFORM arg_HEADERS PREPEND ${folder}/)
    set_property(GLOBAL APPEND PROPERTY WINNOW_LIBRARIES ${name})
    set_property(GLOBAL APPEND PROPERTY WINNOW_HEADERS ${arg_HEADERS})
  endif()
endfunction()

add_custom_target(tests_tsan)  # the programs of all tests labelled tsan
add_custom_target(tests_cuda)  # likewise cuda

# winnow_test(<name> SOURCES ... [DEPS ...] [LABELS ...] [RANKS p ...] [TIMEOUT s])
# A GoogleTest program, one CTest entry for the whole of it (one for each p under mpirun with RANKS).
# Programs with RANKS have the main of winnow::mpi_test_main and exist only in builds with MPI.
# LABELS defaults to unit. The label tsan marks what the thread sanitizer can judge, cuda what needs
# CUDA's libraries. Threads of OpenMP sleep where they wait, since tests share the machine.
function(winnow_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EACH_SIMD" "TIMEOUT" "SOURCES;DEPS;LABELS;RANKS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "winnow_test(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_RANKS AND NOT WINNOW_MPI)
    return()
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(WINNOW_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 6")  # their code runs several times slower
  endif()
  string(REPLACE "." "_" target ${name})
  add_executable(test_${target} ${arg_SOURCES})
  target_include_directories(test_${target} PRIVATE ${PROJECT_SOURCE_DIR})
  set(main GTest::gtest_main)
  if(arg_RANKS)
    set(main winnow::mpi_test_main)
  endif()
  target_link_libraries(test_${target} PRIVATE winnow::options ${arg_DEPS} GTest::gmock ${main})
  target_compile_options(test_${target} PRIVATE $<$<CONFIG:Release>:-O1>)  # -O3 takes twice as long to compile
  foreach(label IN ITEMS tsan cuda)
    if(label IN_LIST arg_LABELS)
      add_dependencies(tests_${label} test_${target})
    endif()
  endforeach()
  set_target_properties(test_${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(arg_RANKS)
    foreach(ranks IN LISTS arg_RANKS)
      add_test(NAME ${name}.np${ranks}
        COMMAND ${PROJECT_SOURCE_DIR}/tools/local_mpirun ${ranks} $<TARGET_FILE:test_${target}>)
      set_tests_properties(${name}.np${ranks} PROPERTIES
        LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${ranks}
        ENVIRONMENT WINNOW_MPI_TIMEOUT=240)
    endforeach()
  else()
    add_test(NAME ${name} COMMAND test_${target})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT OMP_WAIT_POLICY=passive)
  endif()
  if(arg_EACH_SIMD)
    foreach(simd none avx2)
      add_test(NAME ${name}.${simd} COMMAND test_${target})
      set_tests_properties(${name}.${simd} PROPERTIES
        LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT WINNOW_SIMD=${simd})
    endforeach()
  endif()
endfunction()
