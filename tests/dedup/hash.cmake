winnow_test(dedup.hash EACH_SIMD SOURCES block_mean_test.cpp hash_test.cpp DEPS winnow::dedup_hash LABELS unit)
target_compile_definitions(test_dedup_hash PRIVATE PROJECT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
