# WINNOW_RELEASED, the day of this version, the first heading with a number in CHANGELOG.md: "## 0.1.0, 2026-11-24".
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
file(STRINGS ${PROJECT_SOURCE_DIR}/CHANGELOG.md headings REGEX "^## [0-9]")
list(GET headings 0 heading)
if(NOT heading MATCHES "^## ([0-9.]+), ([0-9-]+)$" OR NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "CHANGELOG.md begins with \"${heading}\"; it should be \"## ${PROJECT_VERSION}, YYYY-MM-DD\".")
endif()
set(WINNOW_RELEASED ${CMAKE_MATCH_2})
