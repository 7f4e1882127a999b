#include "datasets/recordio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "common/error.h"
#include "datasets/formats.h"
#include "tests/datasets/set_in_folder.h"
#include "tests/datasets/source_lines.h"
#include "tests/datasets/wire_writer.h"

namespace winnow::datasets::recordio_test {

namespace fs = std::filesystem;
using test::little_endian;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kMagic = little_endian<std::uint32_t>(0xCED7230A);

std::string part(std::uint32_t place, const std::string& data) {
  const auto size = static_cast<std::uint32_t>(data.size());
  return kMagic + little_endian(place << 29 | size) + data + std::string((4 - size % 4) % 4, '\0');
}

// Written like dmlc: cut where the magic number occurs at a multiple of four; the number itself is
// left out.
std::string record(const std::string& data) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (data.compare(at, 4, kMagic) != 0) continue;
    parts.push_back(data.substr(begin, at - begin));
    begin = at + 4;
  }
  parts.push_back(data.substr(begin));
  if (parts.size() == 1) return part(0, data);
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out += part(i == 0 ? 1 : i + 1 < parts.size() ? 2 : 3, parts[i]);
  }
  return out;
}

std::string header(std::uint32_t flag, float label, std::uint64_t id) {
  return little_endian(flag) + little_endian(label) + little_endian(id) +
         little_endian<std::uint64_t>(0);
}
std::string image(float label, std::uint64_t id, const std::string& bytes) {
  return record(header(0, label, id) + bytes);
}
std::string image(const std::vector<float>& labels, std::uint64_t id, const std::string& bytes) {
  std::string data = header(static_cast<std::uint32_t>(labels.size()), 0, id);
  for (const float label : labels) data += little_endian(label);
  return record(data + bytes);
}

std::vector<std::string> lines(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.entries().size(); ++i) {
    const auto payload = source.read(i);
    out.push_back(
        line_of(source, i) + ": " +
        (payload ? std::string(as_text(std::get<Bytes>(*payload))) : payload.error().detail));
  }
  return out;
}

class RecordioTest : public SetInFolder {};

TEST_F(RecordioTest, ReadsWhatIm2recWrites) {
  add("my_train.rec", image(3, 5, "first") + image(0, 9, "second!!") + image(3, 7, ""));
  add("my_train.idx", "5\t0\n9\t40\n");
  add("my_val.rec", image(1, 0, std::string(10'000, 'x')));
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "recordio");
  EXPECT_THAT(source->class_names(), ElementsAre("0", "1", "3"));
  EXPECT_EQ(source->description(), "RecordIO: 4 images (train 3, val 1), 3 classes in 2 files");
  EXPECT_THAT(lines(*source),
              ElementsAre("my_train/00000 train 3: first", "my_train/00001 train 0: second!!",
                          "my_train/00002 train 3: has no bytes",
                          "my_val/00000 val 1: " + std::string(10'000, 'x')));
  EXPECT_EQ(source->entries().input_bytes(1), 8U);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kEmpty);
  EXPECT_EQ(open_source(folder_ / "my_val.rec", {})->entries().size(), 1U);
  EXPECT_TRUE(open_source(folder_.path(), {.labels = LabelsFrom::kNone})->class_names().empty());
}

TEST_F(RecordioTest, TakesSeveralLabelsAndPathsOfTheList) {
  add("x.rec", image(std::vector<float>{4, 2}, 1, "a") + image(std::vector<float>{2}, 2, "b") +
                   image(7, 3, "c") + image(2, 4, "d"));
  add("x.lst", "1\t4\t2\tn1/a.jpg\r\n2\t2\tb.jpg\n3\t7\t../../c.jpg\nrubbish\n\n");
  EXPECT_THAT(lines(*open_source(folder_.path(), {})),
              ElementsAre("x/n1/a.jpg none 4 2: a", "x/b.jpg none 2: b", "x/00002 none 7: c",
                          "x/00003 none 2: d"));
}

TEST_F(RecordioTest, JoinsRecordsOfSeveralParts) {
  const std::string twice = "abcd" + kMagic + "efgh" + kMagic + "ij";
  const std::string at_ends = kMagic + "klmn" + kMagic + kMagic;
  const std::string elsewhere = "a" + kMagic + "b";
  add("x.rec", image(1, 1, twice) + image(1, 2, at_ends) + image(1, 3, elsewhere) +
                   image(1, 0xCED7230A, "in the header"));
  EXPECT_THAT(lines(*open_source(folder_.path(), {})),
              ElementsAre("x/00000 none 1: " + twice, "x/00001 none 1: " + at_ends,
                          "x/00002 none 1: " + elsewhere, "x/00003 none 1: in the header"));
}

TEST_F(RecordioTest, EveryCutIsRefusedOrAShorterFile) {
  const std::string first = image(1, 1, "abcd" + kMagic + "efgh1");
  const std::string whole = first + image(2, 2, "second");
  add("x.rec", whole);
  for (std::size_t size = whole.size(); size-- > 4;) {
    fs::resize_file(folder_ / "x.rec", size);
    if (size + 2 >= whole.size() || (size + 3 >= first.size() && size <= first.size())) {
      EXPECT_TRUE(open_source(folder_.path(), {})->read(0)) << size;  // only padding is missing
    } else {
      EXPECT_THAT(refusal(), AllOf(HasSubstr("x.rec is damaged or cut short at byte"),
                                   HasSubstr("after the end of the file")))
          << size;
    }
  }
}

TEST_F(RecordioTest, DamageIsRefusedOrListedAndNeverWorse) {
  const std::string whole =
      image(1, 1, "abcd" + kMagic + "efgh1") + image(std::vector<float>{1, 2}, 2, "second");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int mask : {0xFF, 0x01, 0x20}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      add("x.rec", damaged);
      try {
        lines(*open_source(folder_.path(), {.format = "recordio"}));
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.rec")) << at;
      }
    }
  }
  add("x.rec", image(1, 1, "a") + record("small") + record(header(1 << 30, 0, 1) + "labels?"));
  const auto source = open_source(folder_.path(), {});
  EXPECT_TRUE(source->read(0));
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kCorrupt);
  EXPECT_EQ(source->read(2).error().kind, ReadError::Kind::kCorrupt);
  fs::resize_file(folder_ / "x.rec", 10);
  EXPECT_FALSE(source->read(0));
  for (const std::uint32_t place : {2U, 3U, 7U}) {
    add("x.rec", part(place, header(0, 0, 0)));
    EXPECT_THAT(refusal(), HasSubstr("are not in order"));
  }
  add("x.rec", part(1, header(0, 0, 0)) + part(0, "a"));
  EXPECT_THAT(refusal(), HasSubstr("at byte 32: the parts of a record are not in order"));
}

TEST_F(RecordioTest, LabelsThatAreNoClassesAreRefused) {
  for (const std::vector<float>& labels :
       {std::vector<float>{2, 5, 0, 0.1F, 0.5F}, {-1}, {0, 0, 1}, {1e30F}, {NAN}}) {
    add("x.rec", image(1, 1, "a") + image(labels, 2, "b"));
    EXPECT_THAT(refusal(),
                HasSubstr("x.rec gives its image 1 labels that are not different class numbers"));
    EXPECT_EQ(open_source(folder_.path(), {.labels = LabelsFrom::kNone})->entries().size(), 2U);
  }
}

TEST_F(RecordioTest, OtherFilesAreNotTaken) {
  add("x.rec", "something else");
  EXPECT_FALSE(recordio_found_at(folder_.path()));
  EXPECT_THAT(refusal({.format = "recordio"}), HasSubstr("at byte 0: no record begins there"));
  fs::remove(folder_ / "x.rec");
  EXPECT_THAT(refusal({.format = "recordio"}), HasSubstr("contains no RecordIO file"));
}

}  // namespace winnow::datasets::recordio_test
