#pragma once

// WINNOW_DEVICE_FN marks a function that nvcc compiles for the card and for the host, and the
// host's compiler as an ordinary inline function: one source for both.
#ifdef __CUDACC__
#define WINNOW_DEVICE_FN __host__ __device__ __forceinline__
#else
#define WINNOW_DEVICE_FN inline
#endif
