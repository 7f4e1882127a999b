winnow_test(dedup.sweep
  SOURCES sweep_test.cpp DEPS winnow::dedup_sweep)
