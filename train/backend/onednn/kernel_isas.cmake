# winnow_kernel_isas(<processor> <out>): the instruction sets that own kernels are compiled for, by
# CMAKE_SYSTEM_PROCESSOR. Sets kernel_flags_<isa> as well. "generic" has no flags and is always last.
function(winnow_kernel_isas processor out)
  set(isas generic)
  if(processor MATCHES "^(x86_64|AMD64)$")
    set(isas x86_64_v4_bf16 x86_64_v4 x86_64_v3 generic)
    set(kernel_flags_x86_64_v3 -march=x86-64-v3 PARENT_SCOPE)
    set(kernel_flags_x86_64_v4 -march=x86-64-v4 -mprefer-vector-width=512 PARENT_SCOPE)
    set(kernel_flags_x86_64_v4_bf16
      -march=x86-64-v4 -mprefer-vector-width=512 -mavx512bf16 PARENT_SCOPE)
  endif()
  set(kernel_flags_generic "" PARENT_SCOPE)
  set(${out} ${isas} PARENT_SCOPE)
endfunction()
