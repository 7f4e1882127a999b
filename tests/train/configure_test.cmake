# cmake -DROOT=<repository> -DBUILD=<empty folder> -P configure_test.cmake
# What configuring says to an unfit oneDNN, and that other architectures get no flags of x86.
function(configure result folder)
  file(REMOVE_RECURSE ${BUILD}/${folder})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${ROOT} -B ${BUILD}/${folder} -G Ninja -DCMAKE_BUILD_TYPE=Release
            -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN}
    OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE code)
  set(${result} ${code} PARENT_SCOPE)
  set(text "${out}" PARENT_SCOPE)
endfunction()

# configure_with(<result> <version>): where a oneDNN of that version is found.
function(configure_with result version)
  string(REPLACE "." ";" parts ${version})
  list(GET parts 0 major)
  list(GET parts 1 minor)
  file(WRITE ${BUILD}/include/oneapi/dnnl/dnnl_version.h
    "#define DNNL_VERSION_MAJOR ${major}\n#define DNNL_VERSION_MINOR ${minor}\n")
  configure(code onednn -DWINNOW_TOGETHER=OFF -DDNNL__dnnl_INCLUDE=${BUILD}/include)
  set(${result} ${code} PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

foreach(version 2.5 2.8 4.0)
  configure_with(code ${version})
  if(code EQUAL 0 OR NOT text MATCHES "oneDNN 2\\.6, 2\\.7 or 3, this is ${version}")
    message(FATAL_ERROR "oneDNN ${version} was not refused (${code}):\n${text}")
  endif()
endforeach()
foreach(version 2.6 2.7 3.0 3.10)
  configure_with(code ${version})
  string(REGEX MATCH "^[0-9]" generation ${version})
  if(code EQUAL 0)
    file(READ ${BUILD}/onednn/compile_commands.json commands)
  endif()
  if(NOT code EQUAL 0 OR NOT commands MATCHES "library/descriptions_${generation}\\.cpp")
    message(FATAL_ERROR "oneDNN ${version} is not built with (${code}):\n${text}")
  endif()
endforeach()

configure(code riscv -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=riscv64)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "cannot be configured for another architecture:\n${text}")
endif()
file(READ ${BUILD}/riscv/compile_commands.json commands)
if(NOT commands MATCHES "kernels/pool\\.cpp")
  message(FATAL_ERROR "own kernels are not compiled on another architecture")
endif()
string(REGEX MATCHALL "[^\n]*-m(arch|avx|sse|fma|prefer)[^\n]*" lines "${commands}")
if(lines)
  message(FATAL_ERROR "flags of x86 on another architecture:\n${lines}")
endif()
file(REMOVE_RECURSE ${BUILD})
