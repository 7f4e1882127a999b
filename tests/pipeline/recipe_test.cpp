#include "pipeline/augment/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "pipeline/augment/augment.h"
#include "pipeline/augment/ops/colour.h"
#include "tests/common/formula_images.h"

namespace winnow::pipeline::recipe_test {

using testing::HasSubstr;

TEST(Recipes, HaveNames) {
  EXPECT_EQ(parse_recipe("none"), Recipe::kNone);
  EXPECT_EQ(parse_recipe("cifar"), Recipe::kCifar);
  EXPECT_EQ(parse_recipe("imagenet"), Recipe::kImageNet);
  EXPECT_EQ(parse_recipe("crop:padding=4,mode=zero+flip:p=0.5"), Recipe::kCifar);
  EXPECT_EQ(recipe_name(parse_recipe("resized_crop+flip")), "imagenet");
  EXPECT_EQ(recipe_name(Recipe::kNone), "none");
}

TEST(Recipes, ComeBackFromTheirTexts) {
  for (const std::string text :
       {"crop", "crop:padding=2,mode=reflect+alternating_flip", "centre_crop:resize=232",
        "resized_crop:area=0.25..1,ratio=0.5..2+flip:p=0.25+auto_augment:policy=svhn",
        "jitter:brightness=0.1,hue=0.5+rand_augment:count=3,magnitude=12,interpolation=bilinear",
        "trivial_augment:bins=11+erase:p=0.1,area=0.02..0.2,value=0/1/255+cutout:side=8",
        "translate:x=0.125,y=0", "cutout+cutout+cutout", "mixup", "crop+mixup:alpha=0.4+cutmix",
        "flip+cutmix:p=0.5,alpha=2+mixup", "erase:p=1,value=random"}) {
    EXPECT_EQ(recipe_name(parse_recipe(text)), text);
  }
  EXPECT_EQ(parse_recipe("cutout:value=7"), parse_recipe("cutout:value=7/7/7"));
}

TEST(Recipes, RefuseWhatMakesNoSense) {
  const auto refused = [](const std::string& text, const std::string& part) {
    try {
      parse_recipe(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(part)) << text;
      EXPECT_LT(std::string(error.what()).size(), 200U);
    }
  };
  refused("", "''");
  refused("magic", "'magic'");
  refused("flip+none", "'none'");
  refused("flip+", "''");
  refused("flip:p=2", "from 0 to 1");
  refused("flip:p=nan", "'nan'");
  refused("flip:p", "''");
  refused("flip:", "it has p");
  refused("flip:q=1", "it has p");
  refused("alternating_flip:p=1", "it has none");
  refused("crop:mode=mirror", "zero|reflect");
  refused("crop:padding=4.5", "'4.5'");
  refused("resized_crop:area=0.5", "LOW..HIGH");
  refused("resized_crop:area=0.5..0.25", "LOW..HIGH");
  refused("flip+resized_crop", "first");
  refused("mixup+flip", "put flip before it");
  refused("flip+cutmix+mixup+cutmix", "only once");
  refused("mixup:alpha=0", "from 0.01 to 100");
  refused("rand_augment:magnitude=31", "below its 31 bins");
  refused("rand_augment:bins=1", "'1'");
  refused("erase:value=1/2", "random, a level or R/G/B");
  refused("cutout:value=random", "a level or R/G/B");
  refused("flip+flip+flip+flip+flip+flip+flip+flip+flip+flip+flip+flip+flip", "at most 12");
}

TEST(Recipes, HelpListsEveryStepWithWhatIsUsual) {
  std::istringstream lines(recipe_help());
  std::string line;
  std::size_t count = 0;
  for (; std::getline(lines, line); ++count) {
    const std::string text = line.substr(2);
    EXPECT_EQ(parse_recipe(text), parse_recipe(text.substr(0, text.find(':'))));
  }
  EXPECT_EQ(count, std::variant_size_v<Step>);
}

constexpr Geometry kGeometry{24, 20, 3};

Image augmented(const Image& image, std::string_view recipe, const AugmentKey& key,
                Geometry geometry = kGeometry) {
  Image out(geometry.height_px, geometry.width_px, geometry.channels);
  augment(image.view(), parse_recipe(recipe), geometry, key, out.pixels);
  return out;
}

CounterDraws draws_of(const AugmentKey& key, RandomUse use) {
  return CounterDraws(CounterRng(key.seed, key.epoch, key.id, use));
}

PixelSpan span_of(Image& image) {
  return {image.pixels.data(), image.height_px, image.width_px, image.channels};
}

Image cut_out(const Image& image, const Box& box) {
  Image part(box.height_px, box.width_px, image.channels);
  for (int y = 0; y < box.height_px; ++y) {
    std::copy_n(image.view().row(box.top + y) + box.left * image.channels,
                box.width_px * image.channels, part.pixels.begin() + y * box.width_px * 3);
  }
  return part;
}

TEST(Recipes, ResizedCropCutsAndResizes) {
  const Image image = test::formula_image("lcg", 61, 47);
  std::set<std::vector<int>> boxes;
  for (SampleId id = 0; id < 40; ++id) {
    const AugmentKey key{4, 2, id};
    CounterDraws draws = draws_of(key, RandomUse::kResizedCrop);
    const Box box = random_resized_crop(47, 61, {}, draws);
    boxes.insert({box.top, box.left, box.height_px, box.width_px});
    EXPECT_EQ(crop_of(Recipe::kImageNet, 47, 61, key), box);
    const Image part = cut_out(image, box);
    Image want = resize(part.view(), 24, 20, ResampleFilter::kBilinear);
    CounterDraws flip = draws_of(key, RandomUse::kFlip);
    if (flip.below(2) == 1) flip_horizontally(span_of(want));
    EXPECT_EQ(augmented(image, "imagenet", key), want);
    Image of_part(24, 20, 3);
    augment_crop(part.view(), Recipe::kImageNet, kGeometry, key, of_part.pixels);
    EXPECT_EQ(of_part, want);
    const Image gray = to_gray(image.view());
    EXPECT_EQ(augmented(image, "resized_crop", key, {24, 20, 1}),
              augmented(gray, "resized_crop", key, {24, 20, 1}));
  }
  EXPECT_GT(boxes.size(), 35U);
  EXPECT_EQ(crop_of(Recipe::kCifar, 47, 61, {}), std::nullopt);
}

TEST(Recipes, CentreCropPadsWhatIsSmaller) {
  const Image image = test::formula_image("lcg", 61, 47);
  const Image large = resize(image.view(), 30, 38, ResampleFilter::kBilinear);
  EXPECT_EQ(augmented(image, "centre_crop:resize=30", {}), cut_out(large, {3, 9, 24, 20}));
  const Image small = resize(image.view(), 11, 14, ResampleFilter::kBilinear);
  Image want(24, 20, 3);
  for (int y = 0; y < 11; ++y) {
    std::copy_n(small.view().row(y), 14 * 3, span_of(want).row(6 + y) + 3 * 3);
  }
  EXPECT_EQ(augmented(image, "centre_crop:resize=11", {}), want);
  // This also holds for an image of the sample's size.
  EXPECT_NE(augmented(cut_out(image, {0, 0, 24, 20}), "centre_crop:resize=30", {}),
            cut_out(image, {0, 0, 24, 20}));
}

TEST(Recipes, ReflectsAroundTheBorder) {
  Image image(1, 4, 1);
  image.pixels = {1, 2, 3, 4};
  std::set<std::vector<std::uint8_t>> seen;
  for (SampleId id = 0; id < 200; ++id) {
    seen.insert(augmented(image, "crop:padding=2,mode=reflect", {1, 1, id}, {1, 4, 1}).pixels);
  }
  EXPECT_EQ(seen, (std::set<std::vector<std::uint8_t>>{
                      {3, 2, 1, 2}, {2, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 3}, {3, 4, 3, 2}}));
}

// Each step, alone and after others, equals its sampling followed by its operation.
TEST(Recipes, DoTheirStepsInOrder) {
  const Image image = test::formula_image("tri", 20, 24);
  std::set<std::vector<std::uint8_t>> seen;
  for (SampleId id = 0; id < 30; ++id) {
    const AugmentKey key{9, 3, id};
    Image want = image;
    const PixelSpan pixels = span_of(want);
    CounterDraws flip = draws_of(key, RandomUse::kFlip);
    CounterDraws erasing = draws_of(key, RandomUse::kErase);
    CounterDraws jitter = draws_of(key, RandomUse::kJitter);
    if (flip.below(2) == 1) flip_horizontally(pixels);
    erase(pixels, cutout(8, 24, 20, erasing), {5, 6, 7});
    std::vector<std::uint8_t> scratch;
    for (const Change& change : colour_jitter({0.5, 0, 0.3, 0}, jitter)) {
      if (change.op == Op::kBrightness) adjust_brightness(pixels, change.value);
      if (change.op == Op::kSaturation) adjust_saturation(pixels, change.value, scratch);
    }
    const auto box = random_erasing({.probability = 0.75}, 24, 20, erasing);
    if (box) erase(pixels, *box, kMeanColour);
    EXPECT_EQ(augmented(image,
                        "flip+cutout:side=8,value=5/6/7+"
                        "jitter:brightness=0.5,contrast=0,saturation=0.3,hue=0+erase:p=0.75",
                        key),
              want);
    seen.insert(want.pixels);
  }
  EXPECT_EQ(seen.size(), 30U);
}

TEST(Recipes, TakeThePoliciesOperations) {
  const Image image = test::formula_image("lcg", 20, 24);
  for (const auto& [text, interpolation] :
       {std::pair{"trivial_augment", Interpolation::kNearest},
        std::pair{"trivial_augment:interpolation=bilinear", Interpolation::kBilinear}}) {
    std::set<Op> ops;
    for (SampleId id = 0; id < 200; ++id) {
      const AugmentKey key{9, 3, id};
      CounterDraws draws = draws_of(key, RandomUse::kPolicy);
      const Change change = trivial_augment_wide(31, 24, 20, draws).at(0);
      ops.insert(change.op);
      Image want = image;
      Image moved = image;
      const double v = change.value;
      const PixelSpan pixels = span_of(want);
      std::vector<std::uint8_t> scratch;
      const auto by = [&](const Affine& affine) {
        transform(image.view(), affine, interpolation, pixels);
      };
      switch (change.op) {
        case Op::kShearX:
          by(shear_x(v));
          break;
        case Op::kShearY:
          by(shear_y(v));
          break;
        case Op::kTranslateX:
          by(translation(static_cast<int>(v), 0));
          break;
        case Op::kTranslateY:
          by(translation(0, static_cast<int>(v)));
          break;
        case Op::kRotate:
          rotate(image.view(), v, interpolation, pixels);
          break;
        case Op::kBrightness:
          adjust_brightness(pixels, v);
          break;
        case Op::kSaturation:
          adjust_saturation(pixels, v, scratch);
          break;
        case Op::kContrast:
          adjust_contrast(pixels, v);
          break;
        case Op::kSharpness:
          adjust_sharpness(pixels, v, scratch);
          break;
        case Op::kPosterize:
          posterize(pixels, static_cast<int>(v));
          break;
        case Op::kSolarize:
          solarize(pixels, v);
          break;
        case Op::kAutoContrast:
          autocontrast(pixels);
          break;
        case Op::kEqualize:
          equalize(pixels);
          break;
        default:
          break;
      }
      EXPECT_EQ(augmented(image, text, key), want) << op_name(change.op) << " " << v;
    }
    EXPECT_EQ(ops.size(), 14U);
  }
}

TEST(Recipes, AlternateAndShiftByTheirStreams) {
  const Image image = test::formula_image("lcg", 20, 24);
  Image turned = image;
  flip_horizontally(span_of(turned));
  for (SampleId id = 0; id < 20; ++id) {
    const Image first = augmented(image, "alternating_flip", {1, 0, id});
    EXPECT_TRUE(first == image || first == turned);
    EXPECT_EQ(augmented(image, "alternating_flip", {1, 7, id}), first == image ? turned : image);
    CounterDraws draws = draws_of({1, 1, id}, RandomUse::kTranslate);
    const Shift shift = random_translation(0.2, 0.4, 24, 20, draws);
    Image want = image;
    transform(image.view(), translation(shift.right_px, shift.down_px), Interpolation::kNearest,
              span_of(want));
    EXPECT_EQ(augmented(image, "translate:x=0.2,y=0.4", {1, 1, id}), want);
  }
}

}  // namespace winnow::pipeline::recipe_test
