winnow_test(train.optim
  SOURCES optim_test.cpp optim_vectors_test.cpp optim_rules_test.cpp multistep_test.cpp
          learning_rate_test.cpp clip_test.cpp averaging_test.cpp host_weights_test.cpp
  DEPS winnow::backend_api nlohmann_json::nlohmann_json
  LABELS unit tsan)
target_compile_definitions(test_train_optim PRIVATE
  WINNOW_OPTIM_VECTORS="${PROJECT_SOURCE_DIR}/tests/data/optim")
winnow_test(train.checkpoint SOURCES checkpoint_test.cpp DEPS winnow::checkpoint)
winnow_test(train.checkpoint_writer SOURCES checkpoint_writer_test.cpp
  DEPS winnow::checkpoint LABELS unit tsan)
winnow_test(train.run_saver SOURCES run_saver_test.cpp DEPS winnow::run LABELS unit tsan)
winnow_test(train.dropout SOURCES dropout_test.cpp run_operation.cpp DEPS winnow::run)
winnow_test(train.exposed SOURCES exposed_test.cpp DEPS winnow::step)
winnow_test(train.trace SOURCES trace_test.cpp DEPS winnow::trace nlohmann_json::nlohmann_json LABELS unit tsan)
winnow_test(train.step SOURCES step_test.cpp deferred_backend.cpp DEPS winnow::run)
winnow_test(train.loss_scale SOURCES loss_scale_test.cpp cases.cpp conformance.cpp DEPS winnow::run)
winnow_test(train.step_threads SOURCES step_threads_test.cpp deferred_backend.cpp
  DEPS winnow::backend_reference winnow::nets winnow::rewrites winnow::step LABELS unit tsan)
winnow_test(train.sync_batch_norm
  SOURCES sync_batch_norm_test.cpp cases.cpp conformance.cpp deferred_backend.cpp DEPS winnow::run)
winnow_test(train.memory_needs SOURCES memory_needs_test.cpp DEPS winnow::run)
winnow_test(train.batch_layout SOURCES batch_layout_test.cpp DEPS winnow::run)
winnow_test(train.fixed_point SOURCES fixed_point_test.cpp DEPS winnow::run)
winnow_test(train.all_reduce_plan SOURCES all_reduce_plan_test.cpp DEPS winnow::run)
winnow_test(train.plan SOURCES plan_test.cpp DEPS winnow::run LABELS unit tsan)
winnow_test(train.run_state SOURCES run_state_test.cpp DEPS winnow::run)
winnow_test(train.best SOURCES best_test.cpp DEPS winnow::run)
winnow_test(train.event_file SOURCES event_file_test.cpp DEPS winnow::datasets winnow::run)
winnow_test(train.rank_metrics SOURCES rank_metrics_test.cpp DEPS winnow::run nlohmann_json::nlohmann_json)
winnow_test(train.rank_temperature SOURCES rank_temperature_test.cpp DEPS winnow::run)
# A driver of three cards that are none.
foreach(library cuda nvidia-ml)
  add_library(fake_${library} SHARED fake_driver.cpp)
  set_target_properties(fake_${library} PROPERTIES OUTPUT_NAME ${library} SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fake_driver)
  add_dependencies(test_train_rank_temperature fake_${library})
endforeach()
set_property(TEST train.rank_temperature APPEND PROPERTY ENVIRONMENT
  LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/tests/fake_driver)
winnow_test(train.summary SOURCES summary_test.cpp DEPS winnow::run nlohmann_json::nlohmann_json)
winnow_test(train.out_of_fold SOURCES out_of_fold_test.cpp DEPS winnow::run)
winnow_test(train.golden SOURCES golden_test.cpp DEPS winnow::checkpoint winnow::run)
winnow_test(train.trainer SOURCES trainer_test.cpp deferred_backend.cpp DEPS winnow::run)
winnow_test(train.average_precision SOURCES average_precision_test.cpp DEPS winnow::evaluate)
winnow_test(train.test_augmentation SOURCES test_augmentation_test.cpp deferred_backend.cpp DEPS winnow::run)
winnow_test(train.optimizer_resume SOURCES optimizer_resume_test.cpp DEPS winnow::run)
foreach(test golden optimizer_resume out_of_fold test_augmentation trainer)
  target_compile_definitions(test_train_${test} PRIVATE
    WINNOW_GOLDEN="${PROJECT_SOURCE_DIR}/tests/data/golden")
endforeach()
winnow_test(train.gradient_sum SOURCES gradient_sum_test.cpp DEPS winnow::run LABELS unit tsan)
winnow_test(train.safetensors SOURCES safetensors_test.cpp DEPS winnow::checkpoint)
winnow_test(train.initial_weights SOURCES initial_weights_test.cpp whitening_test.cpp DEPS winnow::run)
