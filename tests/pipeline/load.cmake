winnow_test(pipeline.order
  SOURCES order_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.augment
  SOURCES augment_test.cpp
  DEPS winnow::augment)
winnow_test(pipeline.loader
  SOURCES loader_test.cpp
  DEPS winnow::load winnow::decode winnow::store winnow::lmdb JPEG::JPEG
  LABELS unit tsan)
