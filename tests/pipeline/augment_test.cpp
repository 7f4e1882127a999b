#include "pipeline/augment/augment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"

namespace winnow::pipeline::augment_test {

using Pixels = std::vector<std::uint8_t>;

Image random_image(int height, int width, int channels, std::uint64_t seed) {
  Image image(height, width, channels);
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(1 + rng.below(255));
  return image;
}

Pixels augmented(ImageView image, Recipe recipe, const Geometry& geometry, const AugmentKey& key) {
  Pixels out(static_cast<std::size_t>(geometry.height_px * geometry.width_px * geometry.channels),
             0xA5);
  augment(image, recipe, geometry, key, out);
  return out;
}

int at(const Image& image, int y, int x, int c) {
  return image.pixels[static_cast<std::size_t>((y * image.width_px + x) * image.channels + c)];
}

// Pads with 4 zeros, cuts at (top, left) of the padded picture and mirrors, pixel by pixel.
Pixels crop_oracle(const Image& image, int top, int left, bool flip) {
  const int height = image.height_px;
  const int width = image.width_px;
  Image padded(height + 8, width + 8, image.channels);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < image.channels; ++c) {
        padded.pixels[static_cast<std::size_t>(
            ((y + 4) * padded.width_px + x + 4) * image.channels + c)] =
            static_cast<std::uint8_t>(at(image, y, x, c));
      }
    }
  }
  Pixels out;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int from = flip ? width - 1 - x : x;
      for (int c = 0; c < image.channels; ++c) {
        out.push_back(static_cast<std::uint8_t>(at(padded, top + y, left + from, c)));
      }
    }
  }
  return out;
}

using Draw = std::tuple<int, int, bool>;

// Every possible result of kCifar, with the draw that leads to it.
std::map<Pixels, Draw> all_draws(const Image& image) {
  std::map<Pixels, Draw> draws;
  for (int top = 0; top <= 8; ++top) {
    for (int left = 0; left <= 8; ++left) {
      for (const bool flip : {false, true}) {
        draws[crop_oracle(image, top, left, flip)] = {top, left, flip};
      }
    }
  }
  return draws;
}

TEST(Augment, KeepsWhatFits) {
  for (const int channels : {1, 3}) {
    const Image image = random_image(5, 7, channels, 1);
    EXPECT_EQ(augmented(image.view(), Recipe::kNone, {5, 7, channels}, {}), image.pixels);
  }
}

TEST(Augment, ReadsRowsWithPadding) {
  const Image wide = random_image(6, 10, 3, 2);
  ImageView part = wide.view();
  part.width_px = 4;
  Image copy(6, 4, 3);
  for (int y = 0; y < 6; ++y) {
    std::copy_n(part.row(y), 12, copy.pixels.begin() + y * 12);
  }
  for (const Recipe& recipe : {Recipe::kNone, Recipe::kCifar}) {
    for (const Geometry geometry : {Geometry{6, 4, 3}, Geometry{6, 4, 1}, Geometry{9, 9, 3}}) {
      EXPECT_EQ(augmented(part, recipe, geometry, {1, 2, 3}),
                augmented(copy.view(), recipe, geometry, {1, 2, 3}));
    }
  }
}

TEST(Augment, RepeatsGrayAndTakesLumaOfColour) {
  const Image gray = random_image(8, 8, 1, 3);
  const Pixels repeated = augmented(gray.view(), Recipe::kNone, {8, 8, 3}, {});
  for (std::size_t i = 0; i < repeated.size(); ++i) ASSERT_EQ(repeated[i], gray.pixels[i / 3]);

  const Image colour = random_image(8, 8, 3, 4);
  const Pixels luma = augmented(colour.view(), Recipe::kNone, {8, 8, 1}, {});
  for (int y = 0; y < 8; ++y) {
    for (int x = 0; x < 8; ++x) {
      const int want = (19595 * at(colour, y, x, 0) + 38470 * at(colour, y, x, 1) +
                        7471 * at(colour, y, x, 2) + 32768) >>
                       16;
      ASSERT_EQ(luma[static_cast<std::size_t>(y * 8 + x)], want);
    }
  }
}

TEST(Augment, ReachesEveryCropAndFlipEquallyOften) {
  const Image image = random_image(12, 10, 3, 5);
  const auto draws = all_draws(image);
  ASSERT_EQ(draws.size(), 81U * 2);
  std::map<Draw, int> counts;
  const int samples = 162 * 100;
  for (int id = 0; id < samples; ++id) {
    const auto found = draws.find(
        augmented(image.view(), Recipe::kCifar, {12, 10, 3}, {9, 1, static_cast<SampleId>(id)}));
    ASSERT_NE(found, draws.end()) << "not a crop of the padded image, id " << id;
    ++counts[found->second];
  }
  ASSERT_EQ(counts.size(), draws.size());
  double chi_square = 0;
  for (const auto& [draw, count] : counts) chi_square += (count - 100.0) * (count - 100.0) / 100;
  // Five standard deviations with 161 degrees of freedom
  EXPECT_LT(chi_square, 161 + 5 * std::sqrt(2 * 161.0));
}

TEST(Augment, DrawsRowThenColumnThenFlipFromTheirStreams) {
  for (const int channels : {1, 3}) {
    const Image image = random_image(9, 11, channels, 6);
    for (SampleId id = 0; id < 200; ++id) {
      const AugmentKey key{1ULL << 40, 3, id << 30};
      CounterRng crop(key.seed, key.epoch, key.id, RandomUse::kCrop);
      const int top = static_cast<int>(crop.below(9));
      const int left = static_cast<int>(crop.below(9));
      const bool flip = CounterRng(key.seed, key.epoch, key.id, RandomUse::kFlip).below(2) == 1;
      const Pixels want = crop_oracle(image, top, left, flip);
      ASSERT_EQ(augmented(image.view(), Recipe::kCifar, {9, 11, channels}, key), want);
      if (channels == 1) {
        Image colour(9, 11, 3);
        for (std::size_t i = 0; i < colour.pixels.size(); ++i) {
          colour.pixels[i] = image.pixels[i / 3];
        }
        ASSERT_EQ(augmented(image.view(), Recipe::kCifar, {9, 11, 3}, key),
                  crop_oracle(colour, top, left, flip));
      }
    }
  }
}

TEST(Augment, ResizesAPartThenCropsAndFlipsIt) {
  constexpr Recipe kCropped{{ResizedCropStep{}, CropStep{}, FlipStep{}}, 3};
  for (const int channels : {1, 3}) {
    const Image image = random_image(40, 50, channels, 8);
    for (SampleId id = 0; id < 100; ++id) {
      const AugmentKey key{7, 2, id};
      const auto box = crop_of(Recipe::kImageNet, 40, 50, key);
      ASSERT_TRUE(box.has_value());
      const Image sized = resize(part_of(image.view(), *box), 9, 11, ResampleFilter::kBilinear);
      const bool flip = CounterRng(key.seed, key.epoch, key.id, RandomUse::kFlip).below(2) == 1;
      constexpr int kMiddle = 4;  // the offset at which the padding is cut off again
      ASSERT_EQ(augmented(image.view(), Recipe::kImageNet, {9, 11, channels}, key),
                crop_oracle(sized, kMiddle, kMiddle, flip));
      CounterRng crop(key.seed, key.epoch, key.id, RandomUse::kCrop);
      const int top = static_cast<int>(crop.below(9));
      const int left = static_cast<int>(crop.below(9));
      ASSERT_EQ(augmented(image.view(), kCropped, {9, 11, channels}, key),
                crop_oracle(sized, top, left, flip));
    }
  }
}

// A crop of an image smaller than the padding may miss the image altogether.
TEST(Augment, CropsTinyImages) {
  for (const int side : {1, 2, 3}) {
    const Image image = random_image(side, side, 3, 7);
    for (SampleId id = 0; id < 300; ++id) {
      const AugmentKey key{3, 0, id};
      CounterRng crop(key.seed, key.epoch, key.id, RandomUse::kCrop);
      const int top = static_cast<int>(crop.below(9));
      const int left = static_cast<int>(crop.below(9));
      const bool flip = CounterRng(key.seed, key.epoch, key.id, RandomUse::kFlip).below(2) == 1;
      ASSERT_EQ(augmented(image.view(), Recipe::kCifar, {side, side, 3}, key),
                crop_oracle(image, top, left, flip));
    }
  }
}

TEST(Augment, DependsOnTheKeyAlone) {
  const Image one = random_image(8, 8, 3, 8);
  const Image two = random_image(8, 8, 3, 9);
  const auto draws_one = all_draws(one);
  const auto draws_two = all_draws(two);
  std::array<std::set<Draw>, 3> seen;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::array<AugmentKey, 3> keys{{{i, 1, 1}, {1, i, 1}, {1, 1, i}}};
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const Draw draw = draws_one.at(augmented(one.view(), Recipe::kCifar, {8, 8, 3}, keys[k]));
      EXPECT_EQ(draws_two.at(augmented(two.view(), Recipe::kCifar, {8, 8, 3}, keys[k])), draw);
      seen[k].insert(draw);
    }
  }
  // 60 independent draws out of 162 hit about 50 of them; each part of the key must matter.
  for (const auto& draws : seen) EXPECT_GT(draws.size(), 35U);
}

// torchvision's Resize and CenterCrop as written, in double precision.
Pixels resize_oracle(const Image& image, const Geometry& geometry) {
  const int h = image.height_px;
  const int w = image.width_px;
  const double scale = std::max(static_cast<double>(geometry.height_px) / h,
                                static_cast<double>(geometry.width_px) / w);
  const int new_h = std::max(geometry.height_px, static_cast<int>(std::floor(h * scale + 1e-9)));
  const int new_w = std::max(geometry.width_px, static_cast<int>(std::floor(w * scale + 1e-9)));
  const Image sized = resize(image.view(), new_h, new_w, ResampleFilter::kBilinear);
  const int top = static_cast<int>(std::nearbyint((new_h - geometry.height_px) / 2.0));
  const int left = static_cast<int>(std::nearbyint((new_w - geometry.width_px) / 2.0));
  Pixels out;
  for (int y = 0; y < geometry.height_px; ++y) {
    for (int x = 0; x < geometry.width_px; ++x) {
      for (int c = 0; c < image.channels; ++c) {
        out.push_back(static_cast<std::uint8_t>(at(sized, top + y, left + x, c)));
      }
    }
  }
  return out;
}

TEST(Augment, CoversTheTargetAndCutsTheCentre) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  for (int round = 0; round < 300; ++round) {
    const int channels = rng.below(2) == 0 ? 1 : 3;
    const auto side = [&](std::uint32_t low, std::uint32_t high) {
      return static_cast<int>(low + rng.below(high - low + 1));
    };
    const Image image = random_image(side(16, 60), side(16, 60), channels, rng.next_u64());
    const Geometry geometry{side(10, 30), side(10, 30), channels};
    ASSERT_EQ(augmented(image.view(), Recipe::kNone, geometry, {}), resize_oracle(image, geometry))
        << image.height_px << "x" << image.width_px << " to " << geometry.height_px << "x"
        << geometry.width_px;
  }
}

TEST(Augment, ResizesTheTargetsShapeWithoutACut) {
  const Image image = random_image(30, 42, 3, 10);
  EXPECT_EQ(augmented(image.view(), Recipe::kNone, {10, 14, 3}, {}),
            resize(image.view(), 10, 14, ResampleFilter::kBilinear).pixels);
  EXPECT_EQ(augmented(image.view(), Recipe::kNone, {45, 63, 3}, {}),
            resize(image.view(), 45, 63, ResampleFilter::kBilinear).pixels);
}

TEST(Augment, PadsWithZerosAfterTheCentreIsCut) {
  const Image image = random_image(20, 50, 3, 11);
  const Geometry geometry{10, 10, 3};
  Image cut(10, 10, 3);
  cut.pixels = resize_oracle(image, geometry);
  const auto draws = all_draws(cut);
  for (SampleId id = 0; id < 100; ++id) {
    EXPECT_TRUE(draws.contains(augmented(image.view(), Recipe::kCifar, geometry, {1, 1, id})));
  }
}

TEST(Augment, TakesLumaBeforeTheResize) {
  const Image image = random_image(20, 30, 3, 12);
  EXPECT_EQ(augmented(image.view(), Recipe::kNone, {8, 8, 1}, {}),
            resize_oracle(to_gray(image.view()), {8, 8, 1}));
}

TEST(Augment, ShowsTheMiddleOfAStrip) {
  const int length = 300'000;  // at a height of 64 pixels, a whole row would have 19 million pixels
  for (const bool lying : {true, false}) {
    Image strip(lying ? 1 : length, lying ? length : 1, 1);
    std::fill(strip.pixels.begin(), strip.pixels.end(), std::uint8_t{255});
    std::fill_n(strip.pixels.begin() + length / 2 - 20, 40, std::uint8_t{77});
    const Pixels out = augmented(strip.view(), Recipe::kNone, {64, 64, 1}, {});
    EXPECT_THAT(out, testing::Each(77));
  }
}

TEST(Augment, RefusesWhatMakesNoSense) {
  const Image image = random_image(4, 4, 3, 13);
  Pixels out(4 * 4 * 3);
  EXPECT_THROW(augment(image.view(), Recipe::kNone, {0, 4, 3}, {}, out), UsageError);
  EXPECT_THROW(augment(image.view(), Recipe::kNone, {4, 4, 2}, {}, out), UsageError);
  EXPECT_THROW(augment(image.view(), Recipe::kNone, {4, 4, 1}, {}, out), Error);
  EXPECT_THROW(augment({}, Recipe::kNone, {4, 4, 3}, {}, out), Error);
  ImageView four = image.view();
  four.channels = 4;
  EXPECT_THROW(augment(four, Recipe::kNone, {4, 4, 3}, {}, out), Error);
}

TEST(ParseRecipe, KnowsItsNames) {
  EXPECT_EQ(parse_recipe("none"), Recipe::kNone);
  EXPECT_EQ(parse_recipe("cifar"), Recipe::kCifar);
  const Recipe mixed = parse_recipe("cifar+mixup");
  ASSERT_EQ(mixed.size, Recipe::kCifar.size + 1);
  for (std::size_t i = 0; i < Recipe::kCifar.size; ++i) {
    EXPECT_TRUE(mixed.steps[i] == Recipe::kCifar.steps[i]);
  }
  EXPECT_THROW(parse_recipe("mixup+cifar"), UsageError);
  EXPECT_THROW(parse_recipe("Cifar"), UsageError);
}

}  // namespace winnow::pipeline::augment_test
