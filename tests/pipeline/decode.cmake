winnow_test(pipeline.decode
  SOURCES decode_test.cpp
  DEPS winnow::decode JPEG::JPEG ZLIB::ZLIB opencv::imgcodecs opencv::core
  LABELS unit)
winnow_test(pipeline.bmp SOURCES bmp_test.cpp DEPS winnow::decode opencv::imgcodecs opencv::core)
winnow_test(pipeline.tiff
  SOURCES tiff_test.cpp
  DEPS winnow::decode JPEG::JPEG TIFF::TIFF ZLIB::ZLIB opencv::imgcodecs opencv::core
  LABELS unit)
winnow_test(pipeline.decode_memory
  SOURCES decode_memory_test.cpp
  DEPS winnow::decode JPEG::JPEG TIFF::TIFF ZLIB::ZLIB opencv::imgcodecs opencv::core
  LABELS unit)
target_compile_definitions(test_pipeline_decode PRIVATE PROJECT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
winnow_test(pipeline.crop
  SOURCES crop_test.cpp
  DEPS winnow::augment winnow::datasets winnow::decode JPEG::JPEG opencv::imgcodecs opencv::core
  LABELS unit)
target_compile_definitions(test_pipeline_crop PRIVATE PROJECT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
winnow_test(pipeline.parity SOURCES parity_test.cpp DEPS winnow::augment winnow::decode)
