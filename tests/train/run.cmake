winnow_test(train.optim SOURCES optim_test.cpp DEPS winnow::optim LABELS unit tsan)
winnow_test(train.checkpoint SOURCES checkpoint_test.cpp DEPS winnow::checkpoint LABELS unit tsan)
winnow_test(train.step SOURCES step_test.cpp DEPS winnow::run LABELS unit)
