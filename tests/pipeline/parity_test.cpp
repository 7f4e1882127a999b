// Pixels equal to Pillow's, and therefore to those of torchvision's transforms of PIL images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>

#include "common/bytes.h"
#include "pipeline/augment/augment.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"
#include "pipeline/decode/orientation.h"
#include "pipeline/decode/shrink.h"
#include "tests/common/vectors.h"
#include "tests/pipeline/base64.h"

namespace winnow::pipeline::parity_test {

// The differences over all samples of an operation's vectors, on the scale from 0 to 255.
struct Difference {
  int largest = 0;
  double sum = 0;
  double samples = 0;
  double mean() const { return samples > 0 ? sum / samples : 0; }
};

Image cut(const Image& image, int side) {
  Image out(side, side, image.channels);
  augment(image.view(), Recipe::kNone, {side, side, image.channels}, {}, out.pixels);
  return out;
}

Image result_of(const JsonReader& row) {
  const std::string operation = row.at("operation").text();
  const std::string argument = row.at("argument").text();
  DecodeSettings settings;
  if (operation == "orientation") settings.orientation = Orientation::kApply;
  if (operation == "matte") settings.matte = parse_matte(argument);
  const int scale = operation == "draft" ? std::stoi(argument) : 1;
  auto image = decode(test::from_base64(row.at("file").text()), settings, {}, {}, scale);
  if (!image) throw Error(image.error().detail);
  if (operation == "resize") return *shrink(image->view(), std::stoi(argument));
  if (operation == "resize and crop") return cut(*image, std::stoi(argument));
  if (operation == "resize and encode") {
    const auto small = shrink(image->view(), std::stoi(argument));
    return *decode(encode_jpeg(small->view(), 90), {});
  }
  return *std::move(image);
}

TEST(Parity, EveryOperationGivesPillowsPixels) {
  std::map<std::string, Difference> differences;
  for (const JsonReader& row : test::vectors("pipeline/parity", "files")) {
    const std::string operation = row.at("operation").text();
    SCOPED_TRACE(operation + " " + row.at("name").text() + " " + row.at("argument").text());
    const Image image = result_of(row);
    const Bytes want = test::from_base64(row.at("pixels").text());
    ASSERT_EQ(image.height_px, row.at("height").number<int>());
    ASSERT_EQ(image.width_px, row.at("width").number<int>());
    ASSERT_EQ(image.channels, row.at("channels").number<int>());
    ASSERT_EQ(image.pixels.size(), want.size());
    Difference& d = differences[operation];
    int largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const int off = std::abs(image.pixels[i] - std::to_integer<int>(want[i]));
      largest = std::max(largest, off);
      d.sum += off;
    }
    d.samples += static_cast<double>(want.size());
    d.largest = std::max(d.largest, largest);
    EXPECT_EQ(largest, 0);
  }
  const char* operations[] = {
      "decode", "draft", "matte", "orientation", "resize", "resize and crop", "resize and encode"};
  for (const char* operation : operations) {
    ASSERT_TRUE(differences.contains(operation)) << operation;
    const Difference& d = differences[operation];
    RecordProperty(operation, std::to_string(d.largest) + " " + std::to_string(d.mean()));
    EXPECT_EQ(d.largest, 0) << operation;
    EXPECT_EQ(d.mean(), 0) << operation;
  }
  EXPECT_EQ(differences.size(), std::size(operations));
}

// Files with many ways to state an orientation (make_orientation_golden.py).
TEST(Parity, FilesAreHeldAsPillowHoldsThem) {
  std::size_t files = 0;
  for (const JsonReader& row : test::vectors("pipeline/orientation", "files")) {
    const Bytes file = test::from_base64(row.at("file").text());
    EXPECT_EQ(exif_orientation(sniff(file), file), row.at("orientation").number<int>())
        << row.at("name").text();
    const auto as_stored = decode(file, {});
    const auto applied = decode(file, {.orientation = Orientation::kApply});
    ASSERT_TRUE(as_stored && applied);
    EXPECT_EQ(applied->width_px == as_stored->width_px, row.at("orientation").number<int>() < 5);
    // No prefix of the file leads beyond its end
    for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
      exif_orientation(sniff(file), BytesView(file).first(bytes));
    }
    ++files;
  }
  EXPECT_GT(files, 100U);
}

}  // namespace winnow::pipeline::parity_test
