#include "datasets/single_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/datasets/set_in_folder.h"
#include "tests/datasets/source_lines.h"

namespace winnow::datasets::single_image_test {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SingleImageTest : public SetInFolder {
 protected:
  std::string refusal_of(const std::string& name) const {
    try {
      open_source(folder_ / name, {});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(SingleImageTest, AFileIsADataSetOfOne) {
  add("train cat.JPG", "bytes");
  const auto source = open_source(folder_ / "train cat.JPG", {});
  EXPECT_EQ(source->format(), "image");
  EXPECT_THAT(lines_of(*source), ElementsAre("train cat.JPG none "));
  EXPECT_THAT(source->class_names(), IsEmpty());
  EXPECT_EQ(source->entries().input_bytes(0), 5U);
  EXPECT_EQ(content_of(*source, 0), "bytes");
}

TEST_F(SingleImageTest, ANameWithoutEndingIsAnImageByItsFirstBytes) {
  add("one", "\x89PNG\r\n\x1a\n and more");
  EXPECT_EQ(open_source(folder_ / "one", {})->format(), "image");
  add("short", "\x89PNG");
  add("other", "twelve letters and more");
  for (const char* name : {"short", "other"}) {
    EXPECT_THAT(refusal_of(name), HasSubstr("name an image, or the folder of")) << name;
  }
}

TEST_F(SingleImageTest, WhatCannotBeReadIsListed) {
  add("empty.png", "");
  EXPECT_THAT(content_of(*open_source(folder_ / "empty.png", {}), 0), HasSubstr("error: "));
  add("gone.png", "bytes");
  const auto source = open_source(folder_ / "gone.png", {});
  fs::remove(folder_ / "gone.png");
  EXPECT_THAT(content_of(*source, 0), HasSubstr("error: "));
}

TEST_F(SingleImageTest, WhatIsNoImageFileIsRefused) {
  add("pointer.jpg", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  EXPECT_THAT(refusal_of("pointer.jpg"), HasSubstr("Git LFS"));
  EXPECT_THROW(open_single_image(folder_.path(), {}), UsageError);
}

}  // namespace winnow::datasets::single_image_test
