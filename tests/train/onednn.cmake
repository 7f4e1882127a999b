winnow_test(train.onednn
  SOURCES onednn_test.cpp activation_kernels_test.cpp barlow_twins_kernels_test.cpp group_norm_kernels_test.cpp loss_kernels_test.cpp rows_kernels_test.cpp softmax_kernels_test.cpp cases.cpp conformance.cpp
          run_operation.cpp
  DEPS winnow::backend_onednn winnow::backend_reference winnow::nets winnow::rewrites)
# Threads that wait spinning take the processor from the other tests.
set_tests_properties(train.onednn PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)

# What oneDNN would choose for lesser processors, on this one.
foreach(isa AVX512_CORE AVX2 SSE41)
  add_test(NAME train.onednn.${isa}
    COMMAND test_train_onednn "--gtest_filter=*MatchesTheReference*:*MatchTheReference*:*SayWhat*")
  set_tests_properties(train.onednn.${isa} PROPERTIES
    LABELS unit TIMEOUT 300
    ENVIRONMENT "ONEDNN_MAX_CPU_ISA=${isa};OMP_WAIT_POLICY=passive")
endforeach()

winnow_test(train.onednn_lanes
  SOURCES lanes_test.cpp cases.cpp conformance.cpp
  DEPS winnow::backend_onednn winnow::backend_reference winnow::nets winnow::rewrites)
set_tests_properties(train.onednn_lanes PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)

add_test(NAME lint.configure
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${CMAKE_CURRENT_BINARY_DIR}/configured
          -P ${CMAKE_CURRENT_SOURCE_DIR}/configure_test.cmake)
set_tests_properties(lint.configure PROPERTIES LABELS lint TIMEOUT 120)
