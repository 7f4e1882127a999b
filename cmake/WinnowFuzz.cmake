# What WINNOW_FUZZ asks of a build: clang with libFuzzer, and no release. It counts the edges of winnow's own libraries.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$")
  message(FATAL_ERROR "WINNOW_FUZZ makes fuzzers, not a release: use `cmake --preset fuzz`, or leave WINNOW_FUZZ off.")
endif()
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
check_cxx_source_compiles("#include <cstddef>
#include <cstdint>
extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }" WINNOW_HAS_LIBFUZZER)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT WINNOW_HAS_LIBFUZZER)
  message(FATAL_ERROR "WINNOW_FUZZ needs clang with libFuzzer (Debian: clang libclang-rt-dev), "
    "this is ${CMAKE_CXX_COMPILER}: use `cmake --preset fuzz`, or leave WINNOW_FUZZ off.")
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>")
