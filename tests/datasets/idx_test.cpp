#include "datasets/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/common/deflate.h"
#include "tests/common/temporary_folder.h"

namespace winnow::datasets::idx_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string big_endian(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255);
  return text;
}

char pixel_of(std::uint32_t image, std::uint32_t pixel) {
  return static_cast<char>((image * 31 + pixel) & 255);
}

std::string images(std::uint32_t count, std::uint32_t height = 3, std::uint32_t width = 2) {
  std::string text = big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t p = 0; p < height * width; ++p) text += pixel_of(i, p);
  }
  return text;
}

std::string labels(const std::vector<int>& values) {
  std::string text = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(values.size()));
  for (const int v : values) text += static_cast<char>(v);
  return text;
}

std::string gzipped(const std::string& text) {
  return test::deflated(text, {.level = 9, .window_bits = test::kGzipStream});
}

class IdxTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  std::string refusal(const fs::path& path, LabelsFrom from = LabelsFrom::kAuto) const {
    try {
      open_source(path, {.format = "auto", .labels = from});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string refusal() const { return refusal(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(IdxTest, ReadsTrainThenTestOfPlainAndCompressedFiles) {
  add("t10k-images-idx3-ubyte", images(2));
  add("t10k-labels-idx1-ubyte", labels({1, 0}));
  add("train-images-idx3-ubyte.gz", gzipped(images(3)));
  add("train-labels-idx1-ubyte.gz", gzipped(labels({4, 0, 2})));
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "idx");
  EXPECT_THAT(source->class_names(), ElementsAre("0", "1", "2", "3", "4"));
  std::vector<std::string> names;
  std::vector<std::int32_t> targets;
  for (std::size_t i = 0; i < source->entries().size(); ++i) {
    const Entry entry = source->entries()[i];
    names.push_back(entry.name);
    targets.push_back(entry.labels.at(0));
    EXPECT_EQ(entry.input_bytes, 6U);
  }
  EXPECT_THAT(names,
              ElementsAre("train/00000", "train/00001", "train/00002", "test/00000", "test/00001"));
  EXPECT_THAT(targets, ElementsAre(4, 0, 2, 1, 0));
  EXPECT_EQ(source->entries()[2].split, Split::kTrain);
  EXPECT_EQ(source->entries()[3].split, Split::kTest);
  EXPECT_EQ(source->description(), "IDX: 5 images (train 3 of 2x3, test 2 of 2x3), 5 classes");
  for (std::size_t i = 0; i < 5; ++i) {
    const auto payload = source->read(i);
    ASSERT_TRUE(payload);
    const Image& image = std::get<Image>(*payload);
    EXPECT_EQ(image.height_px, 3);
    EXPECT_EQ(image.width_px, 2);
    EXPECT_EQ(image.channels, 1);
    for (std::uint32_t p = 0; p < 6; ++p) {
      const auto index = static_cast<std::uint32_t>(i < 3 ? i : i - 3);
      EXPECT_EQ(static_cast<char>(image.pixels[p]), pixel_of(index, p)) << i;
    }
  }
}

TEST_F(IdxTest, TakesOneImagesFile) {
  add("train-images-idx3-ubyte", images(2));
  add("train-labels-idx1-ubyte", labels({1, 0}));
  add("t10k-images-idx3-ubyte", images(1));
  add("t10k-labels-idx1-ubyte", labels({0}));
  const auto source = open_source(folder_ / "t10k-images-idx3-ubyte", {});
  ASSERT_EQ(source->entries().size(), 1U);
  EXPECT_EQ(source->entries()[0].split, Split::kTest);
}

TEST_F(IdxTest, TakesASinglePairOfAnotherName) {
  add("emnist-letters-images.idx3-ubyte", images(2));
  add("emnist-letters-labels.idx1-ubyte", labels({7, 7}));
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->entries()[1].name, "00001");
  EXPECT_EQ(source->entries()[1].split, Split::kNone);
  EXPECT_EQ(source->class_names().size(), 8U);
}

TEST_F(IdxTest, AFileThereTwiceIsReadOnce) {
  add("train-images-idx3-ubyte", images(2));
  add("train-images-idx3-ubyte.gz", "rubbish");
  add("train-labels-idx1-ubyte", labels({1, 0}));
  add("train-labels-idx1-ubyte.gz", "rubbish");
  EXPECT_EQ(open_source(folder_.path(), {})->entries().size(), 2U);
}

TEST_F(IdxTest, LabelsCanBeLeft) {
  add("train-images-idx3-ubyte", images(2));
  EXPECT_THAT(refusal(), HasSubstr("has no labels file next to it"));
  const auto source = open_source(folder_.path(), {.format = "auto", .labels = LabelsFrom::kNone});
  EXPECT_TRUE(source->class_names().empty());
  EXPECT_TRUE(source->entries()[0].labels.empty());
}

TEST_F(IdxTest, SeveralSetsAreRefused) {
  for (const char* set : {"emnist-letters-train", "emnist-digits-train"}) {
    add(set + std::string("-images-idx3-ubyte"), images(1));
    add(set + std::string("-labels-idx1-ubyte"), labels({0}));
  }
  EXPECT_THAT(refusal(), AllOf(HasSubstr("several data sets"), HasSubstr("name one images file")));
  EXPECT_EQ(open_source(folder_ / "emnist-digits-train-images-idx3-ubyte", {})->entries()[0].split,
            Split::kTrain);
}

TEST_F(IdxTest, CountsThatDifferNameBothFiles) {
  add("train-images-idx3-ubyte", images(2));
  add("train-labels-idx1-ubyte", labels({1, 0, 3}));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("train-images-idx3-ubyte has 2 images"),
                               HasSubstr("train-labels-idx1-ubyte has 3 labels")));
}

TEST_F(IdxTest, EveryCutIsRefusedByTheFilesName) {
  const std::string whole_images = images(4);
  const std::string whole_labels = labels({1, 0, 3, 2});
  for (const bool compressed : {false, true}) {
    const std::string end = compressed ? ".gz" : "";
    for (const bool cut_images : {false, true}) {
      std::string a = compressed ? gzipped(whole_images) : whole_images;
      std::string b = compressed ? gzipped(whole_labels) : whole_labels;
      std::string& cut = cut_images ? a : b;
      const std::string before = cut;
      for (std::size_t size = 0; size < before.size(); ++size) {
        cut = before.substr(0, size);
        add("train-images-idx3-ubyte" + end, a);
        add("train-labels-idx1-ubyte" + end, b);
        EXPECT_THAT(refusal(), HasSubstr(cut_images ? "train-images" : "train-labels"))
            << size << " of " << before.size() << end;
      }
    }
    fs::remove(folder_ / ("train-images-idx3-ubyte" + end));
    fs::remove(folder_ / ("train-labels-idx1-ubyte" + end));
  }
}

TEST_F(IdxTest, WhatIsCutAwayAfterwardsCannotBeRead) {
  add("train-images-idx3-ubyte", images(4));
  add("train-labels-idx1-ubyte", labels({1, 0, 3, 2}));
  const auto source = open_source(folder_.path(), {});
  fs::resize_file(folder_ / "train-images-idx3-ubyte", 16 + 2 * 6 + 1);
  EXPECT_TRUE(source->read(1));
  const auto cut = source->read(2);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ReadError::Kind::kIo);
  EXPECT_THAT(cut.error().detail, HasSubstr("was cut short"));
}

TEST_F(IdxTest, WrongHeadersAreRefused) {
  add("train-labels-idx1-ubyte", labels({1, 0}));
  std::string wrong = images(2);
  wrong[3] = 1;
  add("train-images-idx3-ubyte", wrong);
  EXPECT_THAT(refusal(), HasSubstr("first four bytes are wrong"));
  add("train-images-idx3-ubyte", images(2) + "x");
  EXPECT_THAT(refusal(), HasSubstr("longer than its header says"));
  // A small file that promises billions of images: no memory is allocated for them.
  std::string boast = images(2);
  boast.replace(4, 12, big_endian(0xFFFFFFFF) + big_endian(1 << 14) + big_endian(1 << 14));
  add("train-images-idx3-ubyte", boast);
  EXPECT_THAT(refusal(), HasSubstr("shorter than its header says"));
  boast.replace(8, 4, big_endian(0));
  add("train-images-idx3-ubyte", boast);
  EXPECT_THAT(refusal(), HasSubstr("0 x 16384 pixels"));
  std::string damaged = gzipped(images(200));
  damaged[damaged.size() / 2] ^= 0x40;
  fs::remove(folder_ / "train-images-idx3-ubyte");
  add("train-images-idx3-ubyte.gz", damaged);
  EXPECT_THAT(refusal(), HasSubstr("train-images-idx3-ubyte.gz"));
}

}  // namespace winnow::datasets::idx_test
