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
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
