winnow_test(pipeline.order
  SOURCES order_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.partial_shuffle
  SOURCES partial_shuffle_test.cpp
  DEPS winnow::load winnow::store)
winnow_test(pipeline.shuffle_quality
  SOURCES shuffle_quality_test.cpp
  DEPS winnow::load winnow::store)
winnow_test(pipeline.samples
  SOURCES samples_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.class_weights
  SOURCES class_weights_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.views
  SOURCES views_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.sampler
  SOURCES sampler_test.cpp
  DEPS winnow::load)
winnow_test(pipeline.augment
  SOURCES augment_test.cpp
  DEPS winnow::augment)
winnow_test(pipeline.augment_parity SOURCES augment_parity_test.cpp DEPS winnow::augment)
winnow_test(pipeline.ops SOURCES ops_test.cpp DEPS winnow::augment)
winnow_test(pipeline.sampling SOURCES sampling_test.cpp DEPS winnow::augment)
foreach(test ops augment_parity)
  target_compile_definitions(test_pipeline_${test} PRIVATE WINNOW_DOCS="${PROJECT_SOURCE_DIR}/docs")
endforeach()
winnow_test(pipeline.mix SOURCES mix_test.cpp DEPS winnow::augment)
winnow_test(pipeline.recipe SOURCES recipe_test.cpp DEPS winnow::augment)
winnow_test(pipeline.settings
  SOURCES settings_test.cpp
  DEPS winnow::ingest winnow::load winnow::decode winnow::store opencv::core opencv::imgcodecs)
winnow_test(pipeline.variants
  SOURCES variants_test.cpp
  DEPS winnow::compact winnow::ingest winnow::load winnow::decode winnow::store opencv::core opencv::imgcodecs)
winnow_test(pipeline.loader
  SOURCES loader_test.cpp
  DEPS winnow::load winnow::decode winnow::store winnow::lmdb JPEG::JPEG
  LABELS unit tsan)
winnow_test(pipeline.exchange
  SOURCES exchange_test.cpp
  DEPS winnow::load winnow::decode winnow::store winnow::lmdb JPEG::JPEG)
winnow_test(pipeline.place_shards SOURCES place_shards_test.cpp DEPS winnow::load)
