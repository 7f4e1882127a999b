#include "pipeline/decode/caption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace winnow::pipeline {
namespace {

Image paper(int height_px, int width_px) {
  Image image(height_px, width_px, 3);
  std::ranges::fill(image.pixels, std::uint8_t{255});
  return image;
}

Image written(std::string_view text) {
  Image image = paper(kCaptionHeightPx, caption_width_px(text));
  write_caption(image, 0, 0, text);
  return image;
}

bool is_blank(const Image& image) {
  return std::ranges::all_of(image.pixels, [](std::uint8_t level) { return level == 255; });
}

TEST(Caption, EveryCharacterIsDrawnAndLikeNoOther) {
  EXPECT_TRUE(is_blank(written(" ")));
  std::vector<Image> seen;
  for (char c = '!'; c <= '~'; ++c) {
    const Image one = written(std::string(1, c));
    EXPECT_FALSE(is_blank(one)) << c;
    EXPECT_EQ(std::ranges::count(seen, one), 0) << c;
    seen.push_back(one);
  }
}

TEST(Caption, IsAsWideAsSaid) {
  EXPECT_EQ(caption_width_px(""), 0);
  EXPECT_EQ(caption_width_px("ab"), 2 * caption_width_px("a"));
  Image room = paper(kCaptionHeightPx, 100);
  write_caption(room, 0, 0, "qWj");
  Image tight = written("qWj");
  for (int y = 0; y < kCaptionHeightPx; ++y) {
    const std::uint8_t* const row = room.view().row(y);
    const int width = 3 * tight.width_px;
    EXPECT_TRUE(std::equal(row, row + width, tight.view().row(y)));
    EXPECT_TRUE(
        std::all_of(row + width, row + 300, [](std::uint8_t level) { return level == 255; }));
  }
}

TEST(Caption, IsCutWhereTheImageEnds) {
  Image whole = paper(40, 60);
  write_caption(whole, 10, 10, "cut");
  Image part = paper(16, 18);
  write_caption(part, 10, 10, "cut");
  write_caption(part, -300, -300, "cut");
  for (int y = 0; y < 16; ++y) {
    EXPECT_TRUE(std::equal(part.view().row(y), part.view().row(y) + 54, whole.view().row(y)));
  }
}

TEST(Caption, BeyondAsciiIsAQuestionMark) {
  EXPECT_EQ(written("a\xC3\xA9z\n"), written("a?z?"));
  EXPECT_EQ(written("\xE6\x97\xA5"), written("?"));
}

}  // namespace
}  // namespace winnow::pipeline
