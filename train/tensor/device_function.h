#pragma once

// Marks a function that nvcc compiles for both device and host, and the host compiler as an
// ordinary inline function.
#ifdef __CUDACC__
#define WINNOW_DEVICE_FN __host__ __device__ __forceinline__
#else
#define WINNOW_DEVICE_FN inline
#endif
