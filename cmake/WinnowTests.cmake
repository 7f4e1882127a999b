# Tests: each room of tests/ is one GoogleTest program, and each of its cases an entry of CTest; so is each method of a Python test.

include(GoogleTest)

set(winnow_places ${PROJECT_BINARY_DIR}/tests/places)
configure_file(${PROJECT_SOURCE_DIR}/tests/common/places.h.in ${winnow_places}/places.h @ONLY)

add_custom_target(tests_tsan)  # the programs that the thread sanitizer can judge
add_custom_target(tests_cuda)  # those that need CUDA's libraries

# winnow_test_options(<target>)
# How GoogleTest programs, and the header that all of them share, are compiled.
function(winnow_test_options target)
  # -O3 takes three times as long to compile; GCC 12 takes the unused half of a std::variant for one that is read.
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-Og;-Wno-maybe-uninitialized>")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # as ccache wants it
  target_link_libraries(${target} PRIVATE winnow::options GTest::gmock)
  winnow_together(${target})  # each in a namespace of its own
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
endfunction()

# A program as well: the header is compiled as position-independent as theirs.
add_executable(tests_precompiled tests/common/precompiled.cpp)
winnow_test_options(tests_precompiled)
target_precompile_headers(tests_precompiled PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/tests/common/precompiled.h>")

# winnow_test_program(<target> [SOURCES ...] [DEPS ...] [MAIN library])
# A GoogleTest program in the build's folder tests/.
function(winnow_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAIN" "SOURCES;DEPS")
  if(NOT arg_MAIN)
    set(arg_MAIN GTest::gtest_main)
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${winnow_places})
  winnow_test_options(${target})
  target_precompile_headers(${target} REUSE_FROM tests_precompiled)
  target_link_libraries(${target} PRIVATE ${arg_DEPS} ${arg_MAIN})
endfunction()

# winnow_test_room(<room> SOURCES ... [TSAN ...] [WITH ...] [DEPS ...] [LABELS ...] [ENVIRONMENT ...] [TIMEOUT s])
# The program test_<room>, dots as _, and an entry <room>.<suite>.<case> for each case in it.
# * SOURCES and TSAN are tests, WITH what they share. TSAN are those that the thread sanitizer can judge: no OpenMP, TBB or MPI
#   library inside, which it takes for races. A build with that sanitizer has no others.
# * LABELS defaults to unit, TIMEOUT to 300 seconds.
# * Threads of OpenMP sleep where they wait, since tests share the machine.
function(winnow_test_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;TSAN;WITH;DEPS;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "winnow_test_room(${room}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  set(sources ${arg_SOURCES} ${arg_TSAN})
  if(WINNOW_SANITIZE)
    math(EXPR arg_TIMEOUT "${arg_TIMEOUT} * 6")  # their code runs several times slower
    if(WINNOW_SANITIZE MATCHES "thread")
      set(sources ${arg_TSAN})
      list(APPEND arg_LABELS tsan)
    endif()
  endif()
  if(NOT sources)
    return()
  endif()
  string(REPLACE "." "_" target test_${room})
  winnow_test_program(${target} SOURCES ${sources} ${arg_WITH} DEPS ${arg_DEPS})
  foreach(label IN ITEMS tsan cuda)
    if(label IN_LIST arg_LABELS)
      add_dependencies(tests_${label} ${target})
    endif()
  endforeach()
  # CTest adds what a property that is named again has; lists in lists would not arrive.
  list(TRANSFORM arg_LABELS PREPEND "LABELS;")
  list(TRANSFORM arg_ENVIRONMENT PREPEND "ENVIRONMENT;")
  # When CTest begins: what is in the program then. Also where the machine is busy.
  gtest_discover_tests(${target} TEST_PREFIX ${room}. NO_PRETTY_VALUES NO_PRETTY_TYPES
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 300
    PROPERTIES TIMEOUT ${arg_TIMEOUT} ${arg_LABELS} ENVIRONMENT OMP_WAIT_POLICY=passive ${arg_ENVIRONMENT})
endfunction()

# winnow_test_again(<name> <room> <filter> <environment>...)
# One more entry: the room's cases that GoogleTest's filter names, in another environment.
function(winnow_test_again name room filter)
  string(REPLACE "." "_" target test_${room})
  if(TARGET ${target})
    add_test(NAME ${name} COMMAND ${target} --gtest_filter=${filter})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT "OMP_WAIT_POLICY=passive;${ARGN}")
  endif()
endfunction()

# winnow_python_tests(<room> <python> FILES name... [LABELS ...] [TIMEOUT s] [ENVIRONMENT ...])
# <name>_test.py of this folder, by unittest: an entry <room>.<name>.<class>.<method> for each method, and one for all methods
# of a class that has a setUpClass. They are listed when CTest begins.
function(winnow_python_tests room python)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TIMEOUT" "FILES;LABELS;ENVIRONMENT")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "winnow_python_tests(${room}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1200)
  endif()
  list(TRANSFORM arg_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM arg_FILES APPEND _test.py)
  list(GET arg_FILES 0 first)
  cmake_path(GET first STEM first)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${room}.${first})
  file(GENERATE OUTPUT ${list}.json CONTENT "{\"room\": \"${room}\", \"python\": \"${python}\", \"timeout\": ${arg_TIMEOUT},
 \"files\": [\"$<JOIN:${arg_FILES},\", \">\"], \"labels\": [\"$<JOIN:${arg_LABELS},\", \">\"],
 \"environment\": [\"$<JOIN:${arg_ENVIRONMENT},\", \">\"]}\n")
  file(GENERATE OUTPUT ${list}.cmake CONTENT
"execute_process(COMMAND [==[${python}]==] -B [==[${PROJECT_SOURCE_DIR}/tests/common/python_tests.py]==] [==[${list}.json]==]
  OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
cmake_language(EVAL CODE \"\${code}\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list}.cmake)
endfunction()
