#include "datasets/food101.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/set_in_folder.h"
#include "tests/datasets/source_lines.h"

namespace winnow::datasets::food101_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Food101Test : public SetInFolder {
 protected:
  Food101Test() {
    for (const char *name : {"meta", "images", "images/apple_pie", "images/waffles"}) {
      fs::create_directories(folder_ / name);
    }
    for (const char *name : {"apple_pie/11", "apple_pie/12", "apple_pie/13", "waffles/7"}) {
      add("images/" + std::string(name) + ".jpg", name);
    }
    add("meta/classes.txt", "apple_pie\nwaffles\n");
    add("meta/train.txt", "apple_pie/12\nwaffles/7\n");
    add("meta/test.txt", "apple_pie/11\r\n\nwaffles/8");
  }
};

TEST_F(Food101Test, ListsSayWhichSplitAnImageIsOf) {
  const auto source = open_source(folder_.path(), {});
  EXPECT_EQ(source->format(), "food101");
  EXPECT_THAT(source->class_names(), ElementsAre("apple_pie", "waffles"));
  EXPECT_THAT(
      lines_of(*source),
      ElementsAre("images/apple_pie/12.jpg train apple_pie", "images/waffles/7.jpg train waffles",
                  "images/apple_pie/11.jpg test apple_pie", "images/waffles/8.jpg test waffles"));
  EXPECT_EQ(content_of(*source, 1), "waffles/7");
  EXPECT_THAT(content_of(*source, 3), HasSubstr("error: "));
  EXPECT_EQ(source->description(), "food101: 4 files, 2 splits, 2 classes; 1 file is missing");
}

TEST_F(Food101Test, OneListWillDoAndLabelsCanBeLeft) {
  fs::remove(folder_ / "meta/train.txt");
  const auto source = open_source(folder_.path(), {.labels = LabelsFrom::kNone});
  EXPECT_THAT(lines_of(*source),
              ElementsAre("images/apple_pie/11.jpg test ", "images/waffles/8.jpg test "));
}

TEST_F(Food101Test, LinesThatAreNoneAreNamed) {
  add("meta/train.txt", "apple_pie/12\nwaffles\n");
  EXPECT_THAT(refusal(), HasSubstr("train.txt: line 2 is not of the form CLASS/ID"));
  add("meta/train.txt", "apple_pie/\n");
  EXPECT_THAT(refusal(), HasSubstr("line 1 is not of the form CLASS/ID"));
  add("meta/train.txt", "\npizza/3\n");
  EXPECT_THAT(refusal(), HasSubstr("line 2 is of class 'pizza'"));
}

TEST_F(Food101Test, NoFileOutsideIsRead) {
  add("meta/classes.txt", "..\n");
  add("meta/test.txt", "../../../etc/x\n../images/waffles/7\n");
  fs::remove(folder_ / "meta/train.txt");
  const auto source = open_source(folder_.path(), {});
  EXPECT_THAT(content_of(*source, 0), HasSubstr("leads out of the list"));
}

TEST_F(Food101Test, OtherFoldersAreNotTaken) {
  fs::remove(folder_ / "meta/classes.txt");
  EXPECT_FALSE(food101_found_at(folder_.path()));
  EXPECT_THAT(refusal({.format = "food101"}), HasSubstr("not a folder of Food-101"));
  EXPECT_FALSE(food101_found_at(folder_ / "meta/train.txt"));
}

}  // namespace winnow::datasets::food101_test
