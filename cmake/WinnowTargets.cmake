# What every folder's CMakeLists.txt is made of.

add_library(winnow_options INTERFACE)
add_library(winnow::options ALIAS winnow_options)
target_compile_features(winnow_options INTERFACE cxx_std_20)
set(warnings -Wall -Wextra -Wconversion -Wno-psabi)
target_compile_options(winnow_options INTERFACE "$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>")
# A fifth of GCC's time goes into collecting its garbage. Where each of Ninja's jobs can have three GiB, it begins at one.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory_of_job "${memory} / (${cores} + 2)")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND memory_of_job GREATER_EQUAL 3072)
  target_compile_options(winnow_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:SHELL:--param\ ggc-min-heapsize=1048576>)
endif()
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

# winnow_together(<target> [<source> ...]): with WINNOW_TOGETHER, sixteen sources at a time are compiled as one,
# but each of those named, and each with options of its own, alone.
function(winnow_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WINNOW_TOGETHER} UNITY_BUILD_BATCH_SIZE 16)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(WINNOW_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # it takes a source that is included for a header
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# What takes a fifth less to compile, for what takes no time when it runs; sources with options of their own keep those.
set(winnow_cold $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)

# winnow_library(<name> [COLD] [SOURCES ...] [ALONE ...] [HEADERS ...] [DEPS ...] [PRIVATE_DEPS ...])
# Makes winnow_<name>, linked everywhere as winnow::<name>. DEPS appear in our headers, PRIVATE_DEPS
# do not. HEADERS are compiled alone by the target all_verify_interface_header_sets. ALONE are those of
# SOURCES that have private names of others here. COLD: as winnow_cold.
function(winnow_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COLD" "" "SOURCES;ALONE;HEADERS;DEPS;PRIVATE_DEPS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "winnow_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(scope PUBLIC)
  if(arg_SOURCES)
    add_library(winnow_${name} STATIC ${arg_SOURCES})
    winnow_together(winnow_${name} ${arg_ALONE})
    target_link_libraries(winnow_${name} PRIVATE winnow::options ${arg_PRIVATE_DEPS})
    if(arg_COLD)
      target_compile_options(winnow_${name} PRIVATE ${winnow_cold})
    endif()
  else()
    add_library(winnow_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(winnow::${name} ALIAS winnow_${name})
  target_compile_features(winnow_${name} ${scope} cxx_std_20)
  target_sources(winnow_${name} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(winnow_${name} ${scope} ${arg_DEPS})
  # What is installed (WinnowInstall.cmake): everything below app/.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  if(NOT folder MATCHES "^(app|tools)(/|$)")
    list(TRANSFORM arg_HEADERS PREPEND ${folder}/)
    set_property(GLOBAL APPEND PROPERTY WINNOW_LIBRARIES ${name})
    set_property(GLOBAL APPEND PROPERTY WINNOW_HEADERS ${arg_HEADERS})
  endif()
endfunction()
