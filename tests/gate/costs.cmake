# Read by CTest after all tests: what costs.txt says of them.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/costs.txt rows REGEX "^[0-9]")
foreach(row IN LISTS rows)
  if(row MATCHES "^[0-9.]+ ([0-9.]+) ([0-9]+) (.+)$")
    set_tests_properties("${CMAKE_MATCH_3}" PROPERTIES COST ${CMAKE_MATCH_1})
    if(CMAKE_MATCH_2 GREATER 1)  # else what CMake says
      set_tests_properties("${CMAKE_MATCH_3}" PROPERTIES PROCESSORS ${CMAKE_MATCH_2})
    endif()
  endif()
endforeach()
