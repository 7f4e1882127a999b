#include "datasets/svhn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/common/deflate.h"
#include "tests/datasets/set_in_folder.h"
#include "tests/datasets/wire_writer.h"

namespace winnow::datasets::svhn_test {

namespace fs = std::filesystem;
using test::little_endian;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string header(const std::string& text = "MATLAB 5.0 MAT-file, Platform: GLNXA64") {
  std::string out = text + std::string(124 - text.size(), ' ');
  return out + little_endian<std::uint16_t>(0x0100) + "IM";
}

// A data element of a MAT-file. Small data is stored in the tag, as MATLAB does.
std::string element(std::uint32_t type, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  if (size > 0 && size <= 4) {
    return little_endian(type | size << 16) + data + std::string(4 - size, '\0');
  }
  return little_endian(type) + little_endian(size) + data + std::string((8 - size % 8) % 8, '\0');
}

std::string array(const std::string& name, std::uint32_t kind, const std::vector<int>& dimensions,
                  std::uint32_t type, const std::string& data) {
  std::string sides;
  for (const int side : dimensions) sides += little_endian<std::int32_t>(side);
  const std::string flags = little_endian(kind) + little_endian<std::uint32_t>(0);
  return element(14,
                 element(6, flags) + element(5, sides) + element(1, name) + element(type, data));
}

std::string compressed(const std::string& variable) {
  const std::string stream = test::deflated(variable);
  return little_endian<std::uint32_t>(15) +
         little_endian(static_cast<std::uint32_t>(stream.size())) + stream;
}

std::uint8_t value(std::size_t image, std::size_t y, std::size_t x, std::size_t channel) {
  return static_cast<std::uint8_t>(image * 97 + y * 3 + x * 41 + channel * 101);
}

std::string pixels(std::size_t count) {
  std::string data;
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t x = 0; x < 32; ++x) {
        for (std::size_t y = 0; y < 32; ++y) data += static_cast<char>(value(n, y, x, c));
      }
    }
  }
  return data;
}

constexpr std::uint32_t kDouble = 6, kUint8 = 9;

std::string x_of(std::size_t count) {
  return array("X", kUint8, {32, 32, 3, static_cast<int>(count)}, 2, pixels(count));
}
// Doubles that MATLAB stores as bytes.
std::string y_of(const std::vector<int>& labels) {
  std::string data;
  for (const int label : labels) data += static_cast<char>(label);
  return array("y", kDouble, {static_cast<int>(labels.size()), 1}, 2, data);
}
std::string y_of_doubles(const std::vector<double>& labels) {
  std::string data;
  for (const double label : labels) data += little_endian(label);
  return array("y", kDouble, {static_cast<int>(labels.size()), 1}, 9, data);
}

class SvhnTest : public SetInFolder {
 protected:
  void expect_pixels(const Source& source, std::size_t position, std::size_t image) const {
    const auto payload = source.read(position);
    ASSERT_TRUE(payload);
    const Image& got = std::get<Image>(*payload);
    ASSERT_EQ(got.height_px, 32);
    ASSERT_EQ(got.width_px, 32);
    ASSERT_EQ(got.channels, 3);
    for (std::size_t y = 0; y < 32; ++y) {
      for (std::size_t x = 0; x < 32; ++x) {
        for (std::size_t c = 0; c < 3; ++c) {
          ASSERT_EQ(got.pixels[3 * (32 * y + x) + c], value(image, y, x, c)) << y << " " << x;
        }
      }
    }
  }
};

TEST_F(SvhnTest, ReadsCompressedAndPlainFiles) {
  add("train_32x32.mat", header() + compressed(x_of(3)) + compressed(y_of({1, 10, 9})));
  add("test_32x32.mat", header() + y_of_doubles({10, 2}) + x_of(2));
  add("extra_32x32.mat", header() + compressed(array("info", kDouble, {1, 1}, 9, "12345678")) +
                             compressed(x_of(1)) + compressed(y_of({5})));
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "svhn");
  EXPECT_THAT(source->class_names(), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  EXPECT_EQ(source->description(), "SVHN: 6 images (train 4, test 2), 10 classes");
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 6; ++i) {
    names.push_back(source->entries()[i].name);
    labels.push_back(source->entries()[i].labels.at(0));
    EXPECT_EQ(source->entries().split(i), i < 4 ? Split::kTrain : Split::kTest);
  }
  EXPECT_THAT(names, ElementsAre("extra_32x32/00000", "train_32x32/00000", "train_32x32/00001",
                                 "train_32x32/00002", "test_32x32/00000", "test_32x32/00001"));
  EXPECT_THAT(labels, ElementsAre(5, 1, 0, 9, 0, 2));
  for (const auto& [position, image] : {std::pair{0, 0}, {1, 0}, {3, 2}, {4, 0}, {5, 1}}) {
    expect_pixels(*source, static_cast<std::size_t>(position), static_cast<std::size_t>(image));
  }
  EXPECT_EQ(open_source(folder_ / "test_32x32.mat", {})->entries().split(0), Split::kTest);
}

TEST_F(SvhnTest, TakesOneImageAndLeavesLabels) {
  add("train_32x32.mat", header() + compressed(array("X", kUint8, {32, 32, 3}, 2, pixels(1))));
  EXPECT_THAT(refusal(), HasSubstr("train_32x32.mat has no y"));
  const auto source = open_source(folder_.path(), {.labels = LabelsFrom::kNone});
  EXPECT_TRUE(source->class_names().empty());
  expect_pixels(*source, 0, 0);
}

TEST_F(SvhnTest, OtherContentsAreRefused) {
  const auto refuses = [&](const std::string& content, const std::string& why) {
    add("train_32x32.mat", content);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("train_32x32.mat"), HasSubstr(why)));
  };
  refuses(header() + y_of({1}), "has no X");
  refuses(header() + x_of(2) + y_of({1}), "has 2 images in X and 1 labels in y");
  refuses(header() + x_of(1) + y_of({11}), "gives its image 0 a label in y that is not a digit");
  refuses(header() + x_of(1) + y_of_doubles({1.5}), "not a digit");
  refuses(header() + x_of(1) + y_of_doubles({NAN}), "not a digit");
  refuses(header() + x_of(1) + x_of(1) + y_of({1}), "X that is not 32 x 32 x 3 x N");
  refuses(header() + array("X", kUint8, {64, 32, 3, 1}, 2, pixels(2)) + y_of({1}),
          "not 32 x 32 x 3 x N");
  refuses(header() + array("X", kDouble, {32, 32, 3, 1}, 2, pixels(1)) + y_of({1}),
          "not 32 x 32 x 3 x N");
  refuses(header() + x_of(1) + array("y", 1, {1, 1}, 2, "a"), "y that is not a list of numbers");
  refuses(header("MATLAB 7.3 MAT-file"), "version 7.3 (HDF5)");
  std::string big_endian = header() + x_of(1);
  big_endian.replace(126, 2, "MI");
  refuses(big_endian, "not a little-endian MAT-file");
}

TEST_F(SvhnTest, EveryCutIsRefusedByTheFilesName) {
  const std::string plain = header() + x_of(1) + y_of({1});
  const std::string small = header() + compressed(x_of(1)) + compressed(y_of({1}));
  for (const std::string& whole : {plain, small}) {
    add("train_32x32.mat", whole);
    const std::size_t y = header().size() + (whole == plain ? x_of(1) : compressed(x_of(1))).size();
    for (std::size_t size = whole.size() - 1; size >= 6; --size) {
      fs::resize_file(folder_ / "train_32x32.mat", size);
      ASSERT_THAT(refusal(), HasSubstr("train_32x32.mat ")) << size;
      if (size == y) {
        EXPECT_THAT(refusal(), HasSubstr("has no y"));
      }
    }
  }
}

TEST_F(SvhnTest, DamageIsRefusedOrReadAndNeverWorse) {
  for (const bool is_compressed : {false, true}) {
    const auto wrap = [&](const std::string& v) { return is_compressed ? compressed(v) : v; };
    const std::string whole = header() + wrap(x_of(1)) + wrap(y_of({1}));
    add("train_32x32.mat", whole);
    std::fstream file(folder_ / "train_32x32.mat", std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](std::size_t at, char byte) {
      file.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
    };
    int accepted = 0;
    for (std::size_t at = 124; at < whole.size(); ++at) {
      for (const int mask : {0xFF, 0x01}) {
        put(at, static_cast<char>(whole[at] ^ mask));
        try {
          const auto source = open_source(folder_.path(), {.format = "svhn"});
          accepted += source->entries().size() == 1 && source->read(0) ? 1 : 0;
        } catch (const UsageError& error) {
          ASSERT_THAT(error.what(), HasSubstr("train_32x32.mat")) << at;
        }
      }
      put(at, whole[at]);
    }
    // Plain files have no checksum for pixels; in compressed ones a few bits have no meaning.
    EXPECT_EQ(accepted > 100, !is_compressed) << accepted;
  }
}

TEST_F(SvhnTest, AbsurdSizesTakeNoMemory) {
  for (const int count : {2, 1 << 24, 0x7FFFFFFF, -1}) {
    add("train_32x32.mat",
        header() + compressed(array("X", kUint8, {32, 32, 3, count}, 2, pixels(1))) + y_of({1}));
    EXPECT_THAT(refusal(), HasSubstr("train_32x32.mat ")) << count;
  }
  std::string boast = x_of(1);
  const std::string size = little_endian<std::uint32_t>(0xFFFFFFFF);
  boast.replace(4, 4, size);
  add("train_32x32.mat", header() + boast);
  EXPECT_THAT(refusal(), HasSubstr("there is no complete variable at byte 128"));
}

TEST_F(SvhnTest, OtherFilesAreNotTaken) {
  add("train_32x32.mat", "something else");
  EXPECT_FALSE(svhn_found_at(folder_.path()));
  EXPECT_THAT(refusal({.format = "svhn"}), HasSubstr("too short for a MAT-file"));
  fs::remove(folder_ / "train_32x32.mat");
  EXPECT_THAT(refusal({.format = "svhn"}), HasSubstr("holds no train_32x32.mat"));
}

}  // namespace winnow::datasets::svhn_test
