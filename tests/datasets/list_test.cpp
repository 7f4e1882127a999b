#include "datasets/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "common/error.h"
#include "datasets/csv.h"
#include "datasets/formats.h"
#include "tests/common/temporary_folder.h"
#include "tests/datasets/source_lines.h"

namespace winnow::datasets::list_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class ListTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void add_images() const {
    for (const char* name : {"a/1.jpg", "a/2 two.jpg", "b/3.png"}) add(name, name);
  }
  std::unique_ptr<Source> open(const std::string& name, LabelsFrom labels = LabelsFrom::kAuto,
                               const std::string& format = "auto") const {
    return open_source(folder_ / name, {.format = format, .labels = labels});
  }
  std::unique_ptr<Source> open_text(const std::string& name, const std::string& text) const {
    add(name, text);
    return open(name);
  }
  std::string refusal(const std::string& name, const std::string& text,
                      const std::string& format = "auto") const {
    try {
      add(name, text);
      open(name, LabelsFrom::kAuto, format);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

TEST_F(ListTest, TablesWithAHeader) {
  add_images();
  const auto source = open_text("set.csv",
                                "Label,width,Path,Split,group\r\n"
                                "dog,3,b/3.png,train,g1\r\n"
                                "cat,4,\"a/2 two.jpg\",VAL,\r\n"
                                ",5,./a//1.jpg,,g1\r\n");
  EXPECT_EQ(source->format(), "csv");
  EXPECT_THAT(lines_of(*source),
              ElementsAre("b/3.png train dog", "a/2 two.jpg val cat", "a/1.jpg none "));
  EXPECT_EQ(source->entries()[0].group, "g1");
  EXPECT_EQ(source->entries()[1].group, "");
  EXPECT_EQ(source->entries().input_bytes(1), 11U);
  EXPECT_EQ(content_of(*source, 0), "b/3.png");
  EXPECT_EQ(content_of(*source, 2), "a/1.jpg");
  EXPECT_EQ(source->description(),
            "csv: 3 files, 2 splits, 2 classes; 1 file without a label; column not used: 'width'");
}

TEST_F(ListTest, TablesWithoutAHeaderAndOtherDelimiters) {
  add_images();
  EXPECT_THAT(lines_of(*open_text("set.csv", "a/1.jpg,2,test,g\nb/3.png,0,train,g\n")),
              ElementsAre("a/1.jpg test 2", "b/3.png train 0"));
  EXPECT_THAT(lines_of(*open_text("set.tsv", "filename\tclass\na/1.jpg\ta,b;c\n")),
              ElementsAre("a/1.jpg none a,b;c"));
  EXPECT_THAT(lines_of(*open_text("semi.csv", "file;labels\na/1.jpg;x|y z\nb/3.png;\n")),
              ElementsAre("a/1.jpg none x,y z", "b/3.png none "));
  EXPECT_THAT(lines_of(*open_text("several.csv", "image,labels\na/1.jpg,2|0;1\n")),
              ElementsAre("a/1.jpg none 2,0,1"));
  EXPECT_THAT(lines_of(*open_text("my_train.csv", "a/1.jpg")), ElementsAre("a/1.jpg train "));
  EXPECT_THAT(open("set.csv", LabelsFrom::kNone)->class_names(), ElementsAre());
}

TEST_F(ListTest, WhatIsNoTableIsRefusedByLine) {
  add_images();
  EXPECT_THAT(refusal("a.csv", "photo,kind\na/1.jpg,cat\n"), HasSubstr("has no column of files"));
  EXPECT_THAT(refusal("a.csv", "path,split\na/1.jpg,train\n\nb/3.png,tran\n"),
              AllOf(HasSubstr("a.csv: line 4"), HasSubstr("'tran'")));
  EXPECT_THAT(refusal("a.csv", "label,path\ncat\n"), HasSubstr("line 2 has no file name"));
  EXPECT_THAT(refusal("a.csv", "path\n\"a/1.jpg\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("a.csv", "path,label\n"), HasSubstr("names no files"));
  EXPECT_THAT(refusal("a.csv", ""), HasSubstr("names no files"));
  EXPECT_THAT(refusal("a.csv", "path\nnowhere/1.jpg\n"),
              AllOf(HasSubstr("none of the first 1 file"), HasSubstr("nowhere/1.jpg")));
}

// Kaggle's layout: train.csv next to train/, which has the files that its ids name.
TEST_F(ListTest, FilesAreLookedForInTheFoldersBeside) {
  add("train/x.jpg", "train x");
  add("train/y.jpg", "train y");
  add("test/x.jpg", "test x");
  const auto source = open_text("train.csv", "id,breed,target\nx,beagle,1\ny,boxer,0\n");
  EXPECT_THAT(lines_of(*source), ElementsAre("train/x.jpg train 1", "train/y.jpg train 0"));
  EXPECT_EQ(content_of(*source, 1), "train y");
  EXPECT_THAT(source->description(),
              AllOf(HasSubstr("paths are relative to 'train/'"),
                    HasSubstr("'.jpg' added to each path"), HasSubstr("column not used: 'breed'")));
}

TEST_F(ListTest, FilesThatCannotBeReadAreListed) {
  add_images();
  add("set/here.jpg", "here");
  const std::string inside = (folder_ / "set/here.jpg").string();
  const auto source =
      open_text("set/list.csv", "path\nhere.jpg\ngone.jpg\n../a/1.jpg\n/etc/passwd\n" + inside +
                                    "\nx/../here.jpg\n..\nempty.jpg\n");
  EXPECT_THAT(lines_of(*source), ElementsAre("here.jpg none ", "gone.jpg none ", "a/1.jpg none ",
                                             "etc/passwd none ", "here.jpg none ", "here.jpg none ",
                                             "(no path) none ", "empty.jpg none "));
  add("set/empty.jpg", "");
  EXPECT_EQ(source->read(1).error().kind, ReadError::Kind::kMissing);
  EXPECT_THAT(content_of(*source, 2), HasSubstr("leads out of"));
  EXPECT_THAT(content_of(*source, 3), HasSubstr("leads out of"));
  EXPECT_EQ(content_of(*source, 4), "here");
  EXPECT_EQ(content_of(*source, 5), "here");
  EXPECT_THAT(content_of(*source, 6), HasSubstr("leads out of"));
  EXPECT_EQ(source->read(7).error().kind, ReadError::Kind::kEmpty);
  EXPECT_THAT(source->description(),
              AllOf(HasSubstr("2 files are missing"),
                    HasSubstr("3 paths point outside the folder of the list")));
}

TEST_F(ListTest, CaffesLists) {
  add_images();
  const auto source = open_text("val.txt", "a/1.jpg 2\r\na/2 two.jpg 0\n\nb/3.png -1");
  EXPECT_EQ(source->format(), "list");
  EXPECT_THAT(lines_of(*source), ElementsAre("a/1.jpg val 2", "a/2 two.jpg val 0", "b/3.png val "));
  EXPECT_EQ(content_of(*source, 1), "a/2 two.jpg");
  EXPECT_EQ(source->description(), "list: 3 files, 1 split, 3 classes; 1 file without a label");
  EXPECT_THAT(lines_of(*open_text("all.txt", "a/2 two.jpg\nb/3.png\n")),
              ElementsAre("a/2 two.jpg none ", "b/3.png none "));
}

TEST_F(ListTest, MxnetsLists) {
  add_images();
  const auto source =
      open_text("set_train.lst", "7\t1.000000\ta/1.jpg\n3\t0\t2.0\ta/2 two.jpg\n9\t-1\tb/3.png\n");
  EXPECT_THAT(lines_of(*source),
              ElementsAre("a/1.jpg train 1", "a/2 two.jpg train 0,2", "b/3.png train "));
  for (const char* label : {"0.5", "nan", "inf", "1e9", "cat", "-2", ""}) {
    EXPECT_THAT(refusal("bad.lst", "0\t1\ta/1.jpg\n1\t" + std::string(label) + "\tb/3.png\n"),
                AllOf(HasSubstr("bad.lst: line 2"), HasSubstr("not a class")))
        << label;
  }
  EXPECT_EQ(open("bad.lst", LabelsFrom::kNone)->entries().size(), 2U);
}

TEST_F(ListTest, OtherTextsAreNoLists) {
  add_images();
  for (const char* text : {"", "read me first", "cat\ndog\n", "0\tcat\tdog\n"}) {
    EXPECT_THAT(refusal("a.txt", text), HasSubstr("has no known format")) << text;
  }
  EXPECT_THAT(refusal("a.txt", "a/1.jpg 0\n" + std::string((1 << 20) + 1, 'x')),
              HasSubstr("line 2 has more than 1 MiB"));
  EXPECT_THAT(refusal("a.txt", "", "list"), HasSubstr("names no files"));
}

TEST_F(ListTest, DamageIsRefusedOrListed) {
  add_images();
  const std::vector<std::pair<std::string, std::string>> lists{
      {"a.csv", "path,label,split\na/1.jpg,cat,train\n\"a/2 two.jpg\",dog,val\nb/3.png,cat,test\n"},
      {"a.lst", "7\t1.000000\ta/1.jpg\n3\t0\ta/2 two.jpg\n9\t0\tb/3.png\n"},
      {"a.txt", "a/1.jpg 2\na/2 two.jpg 0\nb/3.png 1\n"}};
  std::mt19937 random(7);
  for (const auto& [name, text] : lists) {
    for (std::size_t round = 0; round < 3 * text.size(); ++round) {
      std::string damaged = text.substr(0, std::min(round, text.size()));
      if (round >= text.size()) damaged[random() % text.size()] = static_cast<char>(random());
      try {
        const auto source = open_text(name, damaged);
        EXPECT_LE(source->entries().size(), 5U);
        for (std::size_t i = 0; i < source->entries().size(); ++i) {
          EXPECT_FALSE(source->entries()[i].name.empty());
          EXPECT_NE(content_of(*source, i), "");
        }
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr(name));
      }
    }
  }
}

// Every reader of lists accepts every way in which programs write texts.
TEST_F(ListTest, TextsOfOtherSystemsAreReadAlike) {
  add_images();
  const std::vector<std::pair<std::string, std::string>> lists{
      {"set.csv", "path,label\na/1.jpg,cat\nb/3.png,dog\n"},
      {"set.tsv", "path\tlabel\na/1.jpg\tcat\nb/3.png\tdog\n"},
      {"set.txt", "a/1.jpg 0\nb/3.png 1\n"},
      {"set.lst", "0\t0.0\ta/1.jpg\n1\t1.0\tb/3.png\n"}};
  for (const auto& [name, text] : lists) {
    const auto want = lines_of(*open_text(name, text));
    ASSERT_EQ(want.size(), 2U) << name;
    std::string little = "\xFF\xFE";
    std::string big = "\xFE\xFF";
    std::string by_cr = text;
    for (const char c : text) {
      little += std::string{c, '\0'};
      big += std::string{'\0', c};
    }
    std::ranges::replace(by_cr, '\n', '\r');
    std::string by_backslash = text;
    std::ranges::replace(by_backslash, '/', '\\');
    for (const std::string& other : {"\xEF\xBB\xBF" + text, little, big, by_cr, by_backslash}) {
      EXPECT_EQ(lines_of(*open_text(name, other)), want) << name << '\n' << other;
    }
    EXPECT_THAT(open_text(name, by_backslash)->description(),
                HasSubstr("'\\' in paths read as '/'"));
    EXPECT_THAT(refusal(name, "version https://git-lfs.github.com/spec/v1\n"),
                HasSubstr("is a Git LFS pointer"));
    EXPECT_THAT(refusal(name, "<!DOCTYPE html>"), HasSubstr("is a web page"));
    EXPECT_THAT(refusal(name, "PK\x03\x04"), HasSubstr("is a zip archive; unpack it"));
    EXPECT_THAT(refusal(name, "\x1f\x8b"), HasSubstr("is compressed by gzip"));
  }
}

TEST_F(ListTest, BackslashesOfFilesThatAreThereAreTheirs) {
  add("a\\1.jpg", "one");
  EXPECT_THAT(lines_of(*open_text("set.csv", "path,label\na\\1.jpg,cat\n")),
              ElementsAre("a\\1.jpg none cat"));
}

TEST_F(ListTest, FilesNamedSeveralTimesAreTold) {
  add_images();
  const auto described = [&](const std::string& text) {
    return open_text("set.csv", "path,label,split\n" + text)->description();
  };
  EXPECT_THAT(described("a/1.jpg,a,train\nb/3.png,b,train\na/1.jpg,a,test\n./a//1.jpg,c,val\n"),
              HasSubstr("1 file is named several times, 1 in several splits, 1 with several "
                        "labels: each row counts as an image; keep one row for each file"));
  EXPECT_THAT(described("a/1.jpg,a,train\na/1.jpg,a,train\n"),
              HasSubstr("1 file is named several times: each row"));
  EXPECT_THAT(described("a/1.jpg,a,train\nb/3.png,a,test\n"),
              testing::Not(HasSubstr("several times")));
}

TEST_F(ListTest, MinusOneBesideOneIsTold) {
  add_images();
  for (const auto& [name, text] : {std::pair{"set.csv", "path,label\na/1.jpg,-1\nb/3.png,1\n"},
                                   {"set.txt", "a/1.jpg -1\nb/3.png 1\n"},
                                   {"set.lst", "0\t-1\ta/1.jpg\n1\t1\tb/3.png\n"}}) {
    EXPECT_THAT(open_text(name, text)->description(),
                HasSubstr("labels are -1 and 1, and -1 is read as no label (1 times)"))
        << name;
  }
  EXPECT_THAT(open_text("set.txt", "a/1.jpg -1\nb/3.png 1\na/2 two.jpg 0\n")->description(),
              testing::Not(HasSubstr("-1 and 1")));
}

}  // namespace winnow::datasets::list_test
