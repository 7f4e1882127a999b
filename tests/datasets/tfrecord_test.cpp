#include "datasets/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/crc32c.h"
#include "common/error.h"
#include "datasets/formats.h"
#include "datasets/open_files.h"
#include "datasets/wire.h"
#include "tests/datasets/set_in_folder.h"
#include "tests/datasets/source_lines.h"
#include "tests/datasets/wire_writer.h"

namespace winnow::datasets::tfrecord_test {

namespace fs = std::filesystem;
using test::bytes_field;
using test::little_endian;
using test::number_field;
using test::varint;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::uint32_t masked(const std::string& bytes) {
  Crc32c crc;
  crc.update(as_bytes(bytes));
  return crc.masked();
}

std::string record(const std::string& data) {
  const std::string size = little_endian<std::uint64_t>(data.size());
  return size + little_endian(masked(size)) + data + little_endian(masked(data));
}

std::string feature(const std::string& name, const std::string& value) {
  return bytes_field(1, bytes_field(1, name) + bytes_field(2, value));
}
std::string text_feature(const std::string& name, const std::string& value) {
  return feature(name, bytes_field(1, bytes_field(1, value)));
}
std::string number_feature(const std::string& name, const std::vector<std::int64_t>& values,
                           bool packed = true) {
  std::string list;
  for (const std::int64_t v : values) {
    const auto value = static_cast<std::uint64_t>(v);
    list += packed ? varint(value) : number_field(1, value);
  }
  return feature(name, bytes_field(3, packed ? bytes_field(1, list) : list));
}
std::string example(const std::string& features) { return record(bytes_field(1, features)); }

std::string imagenet(const std::string& image, std::int64_t label, const std::string& text,
                     const std::string& filename) {
  return example(number_feature("image/height", {500}) + text_feature("image/colorspace", "RGB") +
                 number_feature("image/class/label", {label}) +
                 text_feature("image/encoded", image) +
                 text_feature("image/class/synset", "n00000000") +
                 text_feature("image/class/text", text) + text_feature("image/filename", filename));
}

std::vector<std::string> lines(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.entries().size(); ++i) {
    out.push_back(line_of(source, i));
  }
  return out;
}

class TfrecordTest : public SetInFolder {
 protected:
  std::unique_ptr<Source> open(const OpenOptions& options = {}) const {
    return open_source(folder_.path(), options);
  }
  std::string bytes_at(const Source& source, std::size_t position) const {
    const auto payload = source.read(position);
    return payload ? std::string(as_text(std::get<Bytes>(*payload))) : payload.error().detail;
  }
};

TEST(Crc32c, IsThatOfItsDefinition) {
  Crc32c crc;
  crc.update(as_bytes("1234"));
  crc.update(as_bytes("56789"));
  EXPECT_EQ(crc.value(), 0xE3069283U);
  Crc32c zeros;  // RFC 3720, B.4
  zeros.update(as_bytes(std::string(32, '\0')));
  EXPECT_EQ(zeros.value(), 0x8A9136AAU);
}

TEST_F(TfrecordTest, ReadsImageNetsShards) {
  add("train-00001-of-00002", imagenet("third", 1000, "crane", "n3/c.JPEG"));
  add("train-00000-of-00002", imagenet("first", 1, "tench, Tinca tinca", "a.JPEG") +
                                  imagenet(std::string(20'000, 'x'), 135, "crane", "b.JPEG"));
  add("validation-00000-of-00001", imagenet("fourth", 1, "tench, Tinca tinca", "../d.JPEG"));
  add("train-00000-of-00002.idx", "0 10");
  const auto source = open();
  EXPECT_EQ(source->format(), "tfrecord");
  EXPECT_THAT(source->class_names(),
              ElementsAre("tench, Tinca tinca", "crane (135)", "crane (1000)"));
  EXPECT_THAT(lines(*source),
              ElementsAre("train-00000-of-00002/a.JPEG train tench, Tinca tinca",
                          "train-00000-of-00002/b.JPEG train crane (135)",
                          "train-00001-of-00002/n3/c.JPEG train crane (1000)",
                          "validation-00000-of-00001/00000 val tench, Tinca tinca"));
  EXPECT_EQ(source->description(), "TFRecord: 4 images (train 3, val 1), 3 classes in 3 files");
  EXPECT_EQ(source->entries().input_bytes(1), 20'000U);
  EXPECT_EQ(bytes_at(*source, 0), "first");
  EXPECT_EQ(bytes_at(*source, 1), std::string(20'000, 'x'));
  EXPECT_EQ(bytes_at(*source, 2), "third");
  EXPECT_EQ(bytes_at(*source, 3), "fourth");
}

TEST_F(TfrecordTest, TakesOtherNamesOfFeatures) {
  add("a.tfrecords", example(text_feature("image", "one") + number_feature("label", {7}, false)) +
                         example(text_feature("image_raw", "raw") + text_feature("encoded", "no") +
                                 number_feature("label", {2, 7})) +
                         example(text_feature("image", "three") + number_feature("label", {-1})));
  const auto source = open_source(folder_ / "a.tfrecords", {});
  EXPECT_THAT(lines(*source), ElementsAre("a/00000 none 7", "a/00001 none 2 7", "a/00002 none"));
  EXPECT_EQ(bytes_at(*source, 1), "raw");
  const auto unlabelled = open({.labels = LabelsFrom::kNone});
  EXPECT_TRUE(unlabelled->class_names().empty());
  EXPECT_THAT(lines(*unlabelled), ElementsAre("a/00000 none", "a/00001 none", "a/00002 none"));
}

TEST_F(TfrecordTest, TakesBarePixels) {
  const std::string pixels = "abcdefghijkl";
  const auto of = [&](int channels, const std::string& bytes) {
    return example(text_feature("image_raw", bytes) + number_feature("height", {2}) +
                   number_feature("width", {2}) + number_feature("depth", {channels}));
  };
  add("x.tfrecord", of(3, pixels) + of(1, "wxyz") + of(1, pixels) + of(1, "\x89PNG"));
  const auto source = open();
  const auto first = source->read(0);
  ASSERT_TRUE(first);
  const Image& image = std::get<Image>(*first);
  EXPECT_EQ(image.height_px, 2);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(as_text(as_bytes(image.pixels)), pixels);
  EXPECT_EQ(std::get<Image>(*source->read(1)).channels, 1);
  EXPECT_TRUE(std::holds_alternative<Bytes>(*source->read(2)));
  EXPECT_TRUE(std::holds_alternative<Bytes>(*source->read(3)));
}

TEST_F(TfrecordTest, DamagedRecordsAreListed) {
  std::string wrong = example(text_feature("image", "image"));
  wrong[wrong.rfind("image")] ^= 1;
  add("x.tfrecord", example(text_feature("image", "good")) + wrong + record("\xFF\xFF") +
                        example(number_feature("label", {1})) + example(text_feature("image", "")));
  const auto source = open();
  ASSERT_EQ(source->entries().size(), 5U);
  EXPECT_EQ(bytes_at(*source, 0), "good");
  EXPECT_THAT(bytes_at(*source, 1), HasSubstr("checksum"));
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kCorrupt);
  EXPECT_THAT(bytes_at(*source, 2), HasSubstr("no tf.train.Example"));
  EXPECT_THAT(bytes_at(*source, 3), HasSubstr("without an image"));
  EXPECT_EQ(source->read(4).error().kind, ReadError::Kind::kEmpty);
}

TEST_F(TfrecordTest, EveryCutIsRefusedOrAShorterFile) {
  const std::string first = example(text_feature("image", "first") + number_feature("label", {1}));
  const std::string whole = first + example(text_feature("image", "second"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    add("x.tfrecord", whole.substr(0, size));
    if (size == first.size()) {
      EXPECT_EQ(open()->entries().size(), 1U);
    } else {
      EXPECT_THAT(refusal(), HasSubstr("x.tfrecord is ")) << size;
    }
  }
}

TEST_F(TfrecordTest, EveryFlippedByteIsFoundByOpeningOrReading) {
  const std::string whole = imagenet("first", 1, "text", "a.jpg") + imagenet("b", 2, "t", "b.jpg");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0xFF, 0x01}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      add("x.tfrecord", damaged);
      try {
        const auto source = open();
        const bool found = !source->read(0) || (source->entries().size() == 2 && !source->read(1));
        EXPECT_TRUE(found) << at;
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.tfrecord")) << at;
      }
    }
  }
}

TEST_F(TfrecordTest, AbsurdSizesTakeNoMemory) {
  const std::string size = little_endian<std::uint64_t>(~std::uint64_t{0} - 20);
  add("x.tfrecord", size + little_endian(masked(size)) + "data and more of it");
  EXPECT_THAT(refusal(), HasSubstr("x.tfrecord is cut short: its record at byte 0"));
  const std::string boast = varint(1 << 3 | 2) + varint(std::uint64_t{1} << 60) + "xx";
  add("x.tfrecord", record(boast) + example(text_feature("image", "good")) +
                        example(number_feature("label", std::vector<std::int64_t>(70'000, 1)) +
                                text_feature("image", "a")));
  EXPECT_EQ(open()->read(0).error().kind, ReadError::Kind::kCorrupt);
  EXPECT_EQ(open()->read(2).error().kind, ReadError::Kind::kCorrupt);
}

TEST_F(TfrecordTest, WhatItCannotReadIsNamed) {
  add("x.tfrecord.gz", "\x1F\x8B and so on and so on");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("x.tfrecord.gz is compressed (GZIP)")));
  fs::remove(folder_ / "x.tfrecord.gz");
  add("x.tfrecord", "\x78\x9C and so on and so on");
  EXPECT_THAT(refusal(), HasSubstr("compressed (ZLIB)"));
  add("x.tfrecord", example(text_feature("audio", "la") + number_feature("label\n", {1})));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no record has a feature image/encoded"),
                               HasSubstr("its first has audio, label?")));
  add("x.tfrecord", example(text_feature("image", "la") + number_feature("label", {0, 0, 1, 0})));
  EXPECT_THAT(refusal(), HasSubstr("labels that are not different class numbers"));
  EXPECT_TRUE(open({.labels = LabelsFrom::kNone})->class_names().empty());
}

TEST_F(TfrecordTest, FilesThatAreMissingAreSaid) {
  add("cifar-train.tfrecord-00000-of-00003", example(text_feature("image", "a")));
  add("cifar-train.tfrecord-00002-of-00003", example(text_feature("image", "c")));
  EXPECT_THAT(refusal(), HasSubstr("holds 2 of the 3 files cifar-train.tfrecord-*"));
  EXPECT_EQ(open({.allow_empty_classes = true})->entries().size(), 2U);
  EXPECT_EQ(open_source(folder_ / "cifar-train.tfrecord-00002-of-00003", {})->entries().size(), 1U);
  add("other.tfrecord", example(text_feature("image", "a")));
  EXPECT_THAT(refusal({.allow_empty_classes = true}), HasSubstr("whose name does not"));
}

TEST_F(TfrecordTest, ThousandsOfFilesAreNotAllHeldOpen) {
  constexpr int kFiles = 300;
  for (int i = 0; i < kFiles; ++i) {
    add("x" + std::to_string(1000 + i) + ".tfrecord",
        example(text_feature("image", std::to_string(i))) +
            example(text_feature("image", "second")));
  }
  const auto open_files = [] {
    const fs::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  const auto source = open();
  EXPECT_LE(open_files(), before + static_cast<std::ptrdiff_t>(share_of_open_files()));
  for (std::size_t i = 0; i < kFiles; ++i) {
    EXPECT_EQ(bytes_at(*source, 2 * i), std::to_string(i));
    EXPECT_EQ(bytes_at(*source, 2 * i + 1), "second");
  }
}

TEST_F(TfrecordTest, AFileThatIsReadStaysOpenHoweverManyThereAre) {
  for (int i = 0; i < 150; ++i) {
    add("x" + std::to_string(1000 + i) + ".tfrecord",
        example(text_feature("image", "first")) + example(text_feature("image", "second")));
  }
  const auto source = open();
  for (std::size_t i = 0; i < 150; ++i) {
    EXPECT_EQ(bytes_at(*source, 2 * i), "first");
    fs::remove(folder_ / ("x" + std::to_string(1000 + i) + ".tfrecord"));
    EXPECT_EQ(bytes_at(*source, 2 * i + 1), "second");
  }
}

TEST_F(TfrecordTest, OtherFoldersAreNotTaken) {
  add("train-00000-of-00001.parquet", "PAR1");
  add("train-00000-of-00001", "something else that is long enough");
  EXPECT_FALSE(tfrecord_found_at(folder_.path()));
  add("whatever", example(text_feature("image", "a")));
  EXPECT_TRUE(tfrecord_found_at(folder_ / "whatever"));
}

}  // namespace winnow::datasets::tfrecord_test
