#include "datasets/cifar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/datasets/set_in_folder.h"

namespace winnow::datasets::cifar_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kPlane = 1024;

// The value at `pixel` of the plane `channel`.
std::uint8_t value(std::size_t image, std::size_t channel, std::size_t pixel) {
  return static_cast<std::uint8_t>(image * 31 + channel * 80 + pixel * 7 + pixel / 32);
}

// Records of CIFAR-10, or of CIFAR-100 with coarse labels.
std::string records(const std::vector<int>& labels, bool coarse = false) {
  std::string text;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (coarse) text += static_cast<char>(19);
    text += static_cast<char>(labels[i]);
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t p = 0; p < kPlane; ++p) text += static_cast<char>(value(i, c, p));
    }
  }
  return text;
}

void expect_pixels(const Source& source, std::size_t position, std::size_t image) {
  const auto payload = source.read(position);
  ASSERT_TRUE(payload);
  const Image& got = std::get<Image>(*payload);
  ASSERT_EQ(got.height_px, 32);
  ASSERT_EQ(got.width_px, 32);
  ASSERT_EQ(got.channels, 3);
  for (std::size_t p = 0; p < kPlane; ++p) {
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(got.pixels[3 * p + c], value(image, c, p)) << p << " " << c;
    }
  }
}

class CifarTest : public SetInFolder {};

TEST_F(CifarTest, ReadsTheBatchesOfCifar10) {
  add("test_batch.bin", records({9}));
  add("data_batch_2.bin", records({3}));
  add("data_batch_1.bin", records({7, 0}));
  add("readme.html", "");
  add("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "cifar");
  EXPECT_THAT(source->class_names(), ElementsAre("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"));
  EXPECT_EQ(source->description(), "CIFAR-10: 4 images (train 3, test 1), 10 classes");
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 4; ++i) {
    const Entry entry = source->entries()[i];
    names.push_back(entry.name);
    labels.push_back(entry.labels.at(0));
    EXPECT_EQ(entry.split, i < 3 ? Split::kTrain : Split::kTest);
    EXPECT_EQ(entry.input_bytes, 3072U);
  }
  EXPECT_THAT(names, ElementsAre("data_batch_1/00000", "data_batch_1/00001", "data_batch_2/00000",
                                 "test_batch/00000"));
  EXPECT_THAT(labels, ElementsAre(7, 0, 3, 9));
  for (const auto& [position, image] : {std::pair{0, 0}, {1, 1}, {2, 0}, {3, 0}}) {
    expect_pixels(*source, static_cast<std::size_t>(position), static_cast<std::size_t>(image));
  }
}

TEST_F(CifarTest, TakesTheFineLabelsOfCifar100) {
  add("train.bin", records({99, 4}, true));
  add("test.bin", records({50}, true));
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->description(), "CIFAR-100: 3 images (train 2, test 1), 100 classes");
  EXPECT_EQ(source->class_names()[99], "99");
  EXPECT_EQ(source->entries()[0].labels.at(0), 99);
  EXPECT_EQ(source->entries()[2].name, "test/00000");
  expect_pixels(*source, 1, 1);
  std::string classes;
  for (int i = 0; i < 100; ++i) classes += "class_" + std::to_string(i) + "\r\n";
  add("fine_label_names.txt", classes);
  add("coarse_label_names.txt", "whatever");
  EXPECT_EQ(open_source(folder_.path(), {})->class_names()[99], "class_99");
}

TEST_F(CifarTest, TakesOneFileAndLeavesLabels) {
  add("data_batch_1.bin", records({250}));
  add("test_batch.bin", records({1, 2}));
  EXPECT_EQ(open_source(folder_ / "test_batch.bin", {})->entries().size(), 2U);
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("data_batch_1.bin"), HasSubstr("has class 250 for its image 0")));
  const auto source = open_source(folder_.path(), {.labels = LabelsFrom::kNone});
  EXPECT_TRUE(source->class_names().empty());
  EXPECT_TRUE(source->entries()[0].labels.empty());
}

TEST_F(CifarTest, EveryCutIsRefusedByTheFilesName) {
  add("data_batch_1.bin", records({1, 2}));
  for (std::size_t size = 2 * 3073; size-- > 1;) {
    fs::resize_file(folder_ / "data_batch_1.bin", size);
    if (size == 3073) continue;  // this size could be the smaller set
    ASSERT_THAT(refusal(), HasSubstr("data_batch_1.bin has " + std::to_string(size) + " bytes"));
  }
  add("data_batch_1.bin", "");
  EXPECT_THAT(refusal(), HasSubstr("holds no inputs"));
}

TEST_F(CifarTest, WhatIsCutAwayAfterwardsCannotBeRead) {
  add("train.bin", records({1, 2}, true));
  const auto source = open_source(folder_.path(), {});
  fs::resize_file(folder_ / "train.bin", 3074 + 100);
  EXPECT_TRUE(source->read(0));
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kIo);
}

TEST_F(CifarTest, OtherFilesAreNotTaken) {
  add("train.bin", records({1, 2}, true) + "x");
  EXPECT_FALSE(cifar_found_at(folder_.path()));
  EXPECT_THAT(refusal({.format = "cifar"}), HasSubstr("not a whole number of CIFAR-100's records"));
  add("train.bin", records({1}, true));
  add("test_batch.bin", records({1}));
  EXPECT_THAT(refusal(), HasSubstr("holds files of CIFAR-10 and of CIFAR-100"));
  const TemporaryFolder& empty = folder_;
  fs::remove(empty / "train.bin");
  fs::remove(empty / "test_batch.bin");
  EXPECT_THAT(refusal({.format = "cifar"}), HasSubstr("holds no data_batch_N.bin"));
}

TEST_F(CifarTest, NamesOfClassesMustFit) {
  add("test_batch.bin", records({1}));
  for (const char* names :
       {"a\nb\n", "a\na\nc\nd\ne\nf\ng\nh\ni\nj\n", "..\nb\nc\nd\ne\nf\ng\nh\ni\nj\n",
        "\x1b[1m\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"}) {
    add("batches.meta.txt", names);
    EXPECT_THAT(refusal(), HasSubstr("batches.meta.txt does not name the 10 classes"));
  }
  add("batches.meta.txt", std::string(100'000, 'x'));
  EXPECT_THAT(refusal(), HasSubstr("too large"));
}

}  // namespace winnow::datasets::cifar_test
