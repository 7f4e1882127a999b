# nvcc as a language. The cards it compiles for, in one place: machine code for the generations that
# backend cudnn supports (device_errors.h names the oldest), and the newest as PTX too, which drivers
# compile for cards that come later.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 100-real 120)
  else()
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
endif()
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
# Not by CMAKE_CUDA_STANDARD: CMake 3.25 does not know that nvcc has C++20.
add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
