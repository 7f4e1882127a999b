#include "datasets/webdataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "common/error.h"
#include "datasets/class_labels.h"
#include "datasets/formats.h"
#include "tests/common/temporary_folder.h"
#include "tests/datasets/source_lines.h"
#include "tests/datasets/tar_maker.h"

namespace winnow::datasets::webdataset_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class WebDatasetTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::vector<MadeMember>& members,
           int filter = ARCHIVE_FILTER_NONE) const {
    write_bytes(folder_ / name, make_tar(members, {ARCHIVE_FORMAT_TAR_USTAR, filter}));
  }
  std::unique_ptr<Source> open(const std::string& name, LabelsFrom labels = LabelsFrom::kAuto,
                               const std::string& format = "auto") const {
    return open_source(folder_ / name, {.format = format, .labels = labels});
  }
  std::string refusal(const std::string& name) const {
    try {
      open(name, LabelsFrom::kAuto, "webdataset");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

TEST_F(WebDatasetTest, NeighboursWithOneKeyAreOneSample) {
  add("a.tar", {{"0.cls", "1"},
                {"0.jpg", "zero"},
                {"n/1.JPEG", "one"},
                {"n/1.cls", " 0\n"},
                {"n/1.txt", "a caption"},
                {"n/1.1.png", "another sample's: its ending is 1.png"}});
  const auto source = open("a.tar");
  EXPECT_EQ(source->format(), "webdataset");
  EXPECT_THAT(lines_of(*source), ElementsAre("0.jpg none 1", "n/1.JPEG none 0"));
  EXPECT_EQ(content_of(*source, 0), "zero");
  EXPECT_EQ(content_of(*source, 1), "one");
  EXPECT_EQ(source->entries().input_bytes(1), 3U);
  EXPECT_EQ(source->description(),
            "webdataset: 1 shard, 2 classes; 1 additional image of a sample left out");
}

// Two adjacent samples with the same key cannot be told apart by their names.
TEST_F(WebDatasetTest, AnEndingTwiceInASampleIsRefusedByName) {
  const std::vector<std::vector<MadeMember>> bad{
      {{"a.jpg"}, {"a.cls", "0"}, {"a.jpg"}, {"a.cls", "1"}},
      {{"a.jpg"}, {"a.cls", "0"}, {"a.JPG"}, {"b.jpg"}},
      {{"a.jpg"}, {"a.cls", "0"}, {"a.png"}, {"a.cls", "1"}},
      {{"a.jpg"}, {"a.json", "{}"}, {"a.png"}, {"a.json", "{}"}},
      {{"a.jpg"}, {"a.txt", "one"}, {"a.png"}, {"a.txt", "two"}},
      {{"a.0.jpg"}, {"a.0.cls", "0"}, {"a.0.jpg"}, {"a.0.cls", "1"}}};
  for (const auto& members : bad) {
    add("a.tar", members);
    EXPECT_THAT(refusal("a.tar"), AllOf(HasSubstr("a.tar has 'a."), HasSubstr("twice")));
  }
  add("a.tar", {{"a.jpg"}, {"a.cls", "0"}, {"b.jpg"}, {"b.cls", "1"}, {"a.jpg"}, {"a.cls", "1"}});
  EXPECT_THAT(lines_of(*open("a.tar")),
              ElementsAre("a.jpg none 0", "b.jpg none 1", "a.jpg none 1"));
}

TEST_F(WebDatasetTest, StemsWithLabelsOfTheirOwnAreSamples) {
  add("dots.tar", {{"2023.05.0.jpg", "zero"},
                   {"2023.05.0.cls", "1"},
                   {"2023.05.1.jpg", "one"},
                   {"2023.05.1.json", R"({"label": 0})"},
                   {"2023.05.2.jpg", "two"},
                   {"s.jpg"},
                   {"s.cls", "1"},
                   {"s.seg.png"},
                   {"s.meta.json", R"({"label": 0})"}});
  const auto source = open("dots.tar");
  EXPECT_EQ(source->format(), "webdataset");
  EXPECT_THAT(lines_of(*source), ElementsAre("2023.05.0.jpg none 1", "2023.05.1.jpg none 0",
                                             "2023.05.2.jpg none ", "s.jpg none 1"));
  EXPECT_EQ(content_of(*source, 1), "one");
  EXPECT_THAT(source->description(), HasSubstr("1 additional image of a sample left out"));
  add("dots.tar", {{"a.cls", "0"}, {"a.0.jpg"}, {"a.1.jpg"}, {"b.jpg"}, {"b.cls", "1"}});
  EXPECT_THAT(open("dots.tar")->description(),
              HasSubstr("left out, as 'a.1.jpg' (the key of a sample"));
}

// The set of images does not depend on whether labels are read.
TEST_F(WebDatasetTest, WithoutLabelsTheSamplesAreTheSame) {
  add("dots.tar", {{"2023.05.0.jpg"},
                   {"2023.05.0.cls", "1"},
                   {"2023.05.1.jpg"},
                   {"2023.05.1.json", "{"},  // it is not read
                   {"s.jpg"},
                   {"s.seg.png"},
                   {"s.seg.json", "{}"}});
  EXPECT_THAT(lines_of(*open("dots.tar", LabelsFrom::kNone)),
              ElementsAre("2023.05.0.jpg none ", "2023.05.1.jpg none ", "s.jpg none "));
  add("twice.tar", {{"a.jpg"}, {"a.cls", "0"}, {"a.jpg"}, {"a.cls", "1"}});
  EXPECT_THAT(lines_of(*open("twice.tar", LabelsFrom::kNone)), ElementsAre("a.jpg none "));
}

TEST_F(WebDatasetTest, AMaskIsNoSampleAndTakesNoLabelFromIt) {
  add("a.tar", {{"1.jpg"}, {"1.cls", "1"}, {"1.seg.png"}, {"1.seg.json", "{}"}});
  EXPECT_THAT(lines_of(*open("a.tar")), ElementsAre("1.jpg none 1"));
  add("a.tar", {{"1.a.jpg"}, {"1.cls", "1"}, {"1.b.png"}, {"1.b.json", "{}"}});
  EXPECT_THAT(lines_of(*open("a.tar")), ElementsAre("1.a.jpg none 1", "1.b.png none 1"));
}

TEST_F(WebDatasetTest, HardLinksAreTheFilesTheyLeadTo) {
  add("a.tar", {{"1.jpg", "one"},
                {"1.cls", "0"},
                {"2.jpg", "", AE_IFREG, "1.jpg"},
                {"2.cls", "", AE_IFREG, "./1.cls"},
                {"3.jpg", "", AE_IFREG, "gone.jpg"},
                {"3.cls", "0"}});
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("1.jpg none 0", "2.jpg none 0", "3.jpg none 0"));
  EXPECT_EQ(content_of(*source, 1), "one");
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kMissing);
  add("a.tar", {{"1.jpg", "one"}, {"1.cls", "", AE_IFREG, "gone.cls"}});
  EXPECT_THAT(refusal("a.tar"), HasSubstr("1.cls is a hard link"));
}

TEST_F(WebDatasetTest, LabelsOfJson) {
  add("a.tar", {{"0.jpg"},
                {"0.json", R"({"label": "cat", "class": 7})"},
                {"1.jpg"},
                {"1.json", R"({"cls": ["dog", "cat"], "width": 3})"},
                {"2.jpg"},
                {"2.json", R"({"caption": "no label"})"},
                {"3.jpg"},
                {"3.json", R"({"class": "emu"})"},
                {"3.cls", "dog"},
                {"4.jpg"},
                {"4.json", R"({"label": null})"},
                {"5.jpg"},
                {"5.json", R"(["no object"])"}});
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("0.jpg none cat", "1.jpg none dog,cat", "2.jpg none ",
                                             "3.jpg none dog", "4.jpg none ", "5.jpg none "));
  EXPECT_THAT(source->class_names(), ElementsAre("cat", "dog"));
  EXPECT_THAT(source->description(), HasSubstr("3 images without a label"));
  EXPECT_THAT(open("a.tar", LabelsFrom::kNone)->class_names(), ElementsAre());
}

TEST_F(WebDatasetTest, ShardsInOrderWithSplitsOfTheirNames) {
  add("set/imagenet-train-000001.tar", {{"a.jpg", "a"}, {"a.cls", "1"}});
  add("set/imagenet-train-000000.tar", {{"b.jpg", "b"}, {"b.cls", "0"}});
  add("set/imagenet-validation-0.tar.gz", {{"c.jpg", "c"}, {"c.cls", "1"}}, ARCHIVE_FILTER_GZIP);
  const auto source = open("set");
  EXPECT_THAT(lines_of(*source), ElementsAre("imagenet-train-000000/b.jpg train 0",
                                             "imagenet-train-000001/a.jpg train 1",
                                             "imagenet-validation-0/c.jpg val 1"));
  EXPECT_EQ(content_of(*source, 0), "b");
  EXPECT_EQ(content_of(*source, 2), "c");
  EXPECT_THAT(source->description(), HasSubstr("webdataset: 3 shards, 2 splits, 2 classes"));
  EXPECT_EQ(open("set/imagenet-train-{000000..000001}.tar")->entries().size(), 2U);
  add("set/extra.tar", {{"d.jpg"}, {"d.cls", "0"}});
  EXPECT_THAT(refusal("set"), AllOf(HasSubstr("extra.tar"), HasSubstr("imagenet-")));
}

TEST_F(WebDatasetTest, FoldersOfSplitsAndClassNames) {
  add("set/train/0.tar", {{"a.webp"}, {"a.cls", "1"}});
  add("set/test/0.tar", {{"a.webp"}, {"a.cls", "0"}});
  write_bytes(folder_ / "set/classnames.txt", "tabby cat\r\npoodle\nnever seen\n");
  const auto source = open("set");
  EXPECT_THAT(lines_of(*source),
              ElementsAre("test/0/a.webp test tabby cat", "train/0/a.webp train poodle"));
  EXPECT_THAT(source->class_names(), ElementsAre("tabby cat", "poodle", "never seen"));
  write_bytes(folder_ / "set/classnames.txt", "tabby cat\n");
  EXPECT_THAT(refusal("set"), AllOf(HasSubstr("names 1 class, "), HasSubstr("label 1")));
}

TEST_F(WebDatasetTest, WhatLooksLikeIt) {
  add("plain.tar", {{"cat/1.jpg"}, {"dog/2.jpg"}, {"labels.json", "{}"}});
  EXPECT_EQ(open("plain.tar")->format(), "tar");
  EXPECT_EQ(open("plain.tar", LabelsFrom::kAuto, "webdataset")->format(), "webdataset");
  add("captions.tar", {{"1.jpg"}, {"1.txt", "a cat"}});
  EXPECT_EQ(open("captions.tar")->description(), "webdataset: 1 shard, unlabelled");
  EXPECT_EQ(open("captions.tar", LabelsFrom::kAuto, "tar")->format(), "tar");
  add("packed.tar.zst", {{"1.jpg"}, {"1.cls", "0"}}, ARCHIVE_FILTER_ZSTD);
  EXPECT_THAT(open("packed.tar.zst")->description(),
              HasSubstr("webdataset: 1 shard, 1 class; inflated"));
}

TEST_F(WebDatasetTest, WhatIsNoLabelIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"json", "{\"label\": 3"},          {"json", "{\"label\": {}}"},
      {"json", "{\"label\": 1.5}"},       {"json", "{\"label\": [[1]]}"},
      {"json", std::string(100000, '[')}, {"json", std::string((1 << 20) + 1, ' ')},
      {"json", "{\"label\": \"\xff\"}"},  {"cls", std::string(2000, '1')}};
  for (const auto& [ending, content] : bad) {
    add("a.tar", {{"x/1.jpg"}, {"x/1." + ending, content}});
    EXPECT_THAT(refusal("a.tar"),
                AllOf(HasSubstr("a.tar: x/1." + ending), HasSubstr("--labels none")));
    EXPECT_EQ(open("a.tar", LabelsFrom::kNone)->entries().size(), 1U);
  }
}

TEST_F(WebDatasetTest, LabelsTakeNoMemoryByWhatTheySay) {
  add("a.tar", {{"1.jpg"}, {"1.cls", "2000000000"}, {"2.jpg"}, {"2.cls", "3"}});
  EXPECT_THAT(open("a.tar")->class_names(), ElementsAre("2000000000", "3"));
}

TEST_F(WebDatasetTest, SamplesWithoutImagesAndEmptyImages) {
  add("a.tar",
      {{"1.jpg", ""}, {"1.cls", "-1"}, {"2.mp4"}, {"2.cls", "0"}, {"3.jpg"}, {"3.cls", "0"}});
  const auto source = open("a.tar");
  EXPECT_THAT(lines_of(*source), ElementsAre("1.jpg none ", "3.jpg none 0"));
  EXPECT_EQ(source->read(0).error().kind, ReadError::Kind::kEmpty);
  EXPECT_THAT(source->description(), AllOf(HasSubstr("1 skipped sample without an image"),
                                           HasSubstr("1 image without a label")));
  add("b.tar", {{"2.mp4"}, {"2.cls", "0"}});
  EXPECT_THAT(refusal("b.tar"), HasSubstr("holds no inputs"));
}

TEST_F(WebDatasetTest, DamageIsRefusedOrHarmless) {
  const std::string whole = make_tar(
      {{"1.jpg", "one"}, {"1.json", R"({"label": [1, 2]})"}, {"2.jpg", "two"}, {"2.cls", "0"}},
      {ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE});
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole.substr(0, round % 2 == 0 ? random() % whole.size() : whole.size());
    if (round % 2 == 1) damaged[random() % 4096] ^= static_cast<char>(1 + random() % 255);
    write_bytes(folder_ / "a.tar", damaged);
    try {
      const auto source = open("a.tar", LabelsFrom::kAuto, "webdataset");
      for (std::size_t i = 0; i < source->entries().size(); ++i) {
        EXPECT_LE(content_of(*source, i).size(), whole.size());
      }
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.tar"));
    }
  }
}

TEST(ClassLabelsTest, NumbersAreIndicesAndNamesAreSorted) {
  ClassLabels numbers;
  for (const char* text : {"3", "0", "3"}) numbers.add(text);
  EXPECT_THAT(numbers.finish({}, "").names, ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(numbers.finish({}, "").index_of, ElementsAre(3, 0));
  ClassLabels names;
  for (const char* text : {"b", "10", "a", "b"}) names.add(text);
  EXPECT_THAT(names.finish({}, "").names, ElementsAre("10", "a", "b"));
  EXPECT_THAT(names.finish({}, "").index_of, ElementsAre(2, 0, 1));
  ClassLabels codes;
  for (const char* text : {"007", "1"}) codes.add(text);
  EXPECT_THAT(codes.finish({}, "").names, ElementsAre("007", "1"));
}

}  // namespace winnow::datasets::webdataset_test
