#include "app/predict/map_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include "common/error.h"
#include "tests/common/temporary_folder.h"

namespace winnow::app::map_file_test {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

ClassMaps some_maps() {
  return {2, 3, 4, {0.9F, 0.8F, 0, 0,    0,    0, 0.7F, 0,     kNone, 0, 0, 0.95F,  //
                    0,    0,    0, 0.5F, 0.5F, 0, 0,    0.25F, 0,     0, 0, 0}};
}

TEST(MapFile, ATiffHasAPageOfFloatsForEachClass) {
  const TemporaryFolder folder;
  const auto path = folder / "map.tiff";
  const ClassMaps maps = some_maps();
  std::ofstream(path, std::ios::binary) << as_text(map_as_tiff(maps));
  TIFF* tiff = TIFFOpen(path.c_str(), "r");
  ASSERT_NE(tiff, nullptr);
  for (std::size_t page = 0; page < 2; ++page) {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint16_t format = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    TIFFGetField(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    EXPECT_EQ(width, 4U);
    EXPECT_EQ(height, 3U);
    EXPECT_EQ(format, SAMPLEFORMAT_IEEEFP);
    for (std::uint32_t y = 0; y < height; ++y) {
      std::vector<float> row(width);
      ASSERT_EQ(TIFFReadScanline(tiff, row.data(), y), 1);
      for (std::size_t x = 0; x < width; ++x) {
        const float expected = maps.values[(page * 3 + y) * 4 + x];
        EXPECT_TRUE(row[x] == expected || (row[x] != row[x] && expected != expected));
      }
    }
    EXPECT_EQ(TIFFReadDirectory(tiff), page == 0 ? 1 : 0);
  }
  TIFFClose(tiff);
}

TEST(MapFile, AnArrayBeginsAtAMultipleOf64Bytes) {
  const Bytes npy = map_as_npy(some_maps());
  EXPECT_EQ((npy.size() - 24 * sizeof(float)) % 64, 0U);
  EXPECT_THAT(std::string(as_text(npy).substr(10, 80)), ::testing::HasSubstr("(2, 3, 4)"));
}

TEST(MapFile, ComesBackFromEitherFormat) {
  const ClassMaps maps = some_maps();
  for (const Bytes& file : {map_as_npy(maps), map_as_tiff(maps)}) {
    const ClassMaps read = read_maps(file, "map");
    EXPECT_EQ(read.classes, 2);
    EXPECT_EQ(read.rows, 3);
    EXPECT_EQ(read.columns, 4);
    ASSERT_EQ(read.values.size(), maps.values.size());
    EXPECT_EQ(std::memcmp(read.values.data(), maps.values.data(), 24 * sizeof(float)), 0);
    for (std::size_t size = 0; size < file.size(); ++size) {
      if (as_text(file).starts_with("II") && size == file.size() - (file.size() - 8) / 2) continue;
      EXPECT_THROW(read_maps(BytesView(file).first(size), "map"), FormatError) << size;
    }
  }
}

TEST(MapFile, AnOverlayIsTheMoreOpaqueTheMoreProbable) {
  const Image whole = map_overlay(some_maps(), 0, 4);
  EXPECT_EQ(whole.height_px, 3);
  EXPECT_EQ(whole.width_px, 4);
  ASSERT_EQ(whole.channels, 4);
  EXPECT_EQ(whole.pixels[3], 162);                    // value 0.9
  EXPECT_EQ(whole.pixels[4 * 2 + 3], 0);              // value 0
  EXPECT_EQ(whole.pixels[4 * 8 + 3], 0);              // no value
  const Image half = map_overlay(some_maps(), 0, 2);  // the maximum of four points, or of two
  EXPECT_EQ(half.height_px, 2);
  EXPECT_EQ(half.width_px, 2);
  EXPECT_EQ(half.pixels[3], 162);
  EXPECT_EQ(half.pixels[4 * 3 + 3], 181);
}

TEST(MapFile, BoxesAreOfPointsThatTouch) {
  const std::vector<std::int32_t> labels{7, 2};
  const std::vector<FoundBox> boxes = boxes_of(some_maps(), labels, 0.5, 10, 25, 38);
  ASSERT_EQ(boxes.size(), 3U);
  // Four points, two of which touch only at a corner.
  EXPECT_EQ(boxes[0].label, 7);
  EXPECT_EQ(boxes[0].top, 0);
  EXPECT_EQ(boxes[0].left, 0);
  EXPECT_EQ(boxes[0].height_px, 25);
  EXPECT_EQ(boxes[0].width_px, 38);
  EXPECT_FLOAT_EQ(boxes[0].most, 0.95F);
  EXPECT_FLOAT_EQ(boxes[0].mean, (0.9F + 0.8F + 0.7F + 0.95F) / 4);
  EXPECT_EQ(boxes[1], (FoundBox{2, 0, 30, 10, 8, 0.5F, 0.5F}));
  EXPECT_EQ(boxes[2], (FoundBox{2, 10, 0, 10, 10, 0.5F, 0.5F}));
}

}  // namespace winnow::app::map_file_test
