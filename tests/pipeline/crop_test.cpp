#include "pipeline/decode/crop.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"
#include "datasets/formats.h"
#include "pipeline/augment/sampling.h"
#include "places.h"
#include "tests/common/formula_images.h"
#include "tests/common/opencv_codecs.h"
#include "tests/pipeline/jpeg_maker.h"

namespace winnow::pipeline::crop_test {

using test::formula_image;
using test::JpegOptions;
using test::make_jpeg;

int below(CounterRng& rng, int most) {
  return static_cast<int>(rng.below(static_cast<std::uint32_t>(most)));
}

// Shapes with noise, so that every pixel reveals its origin.
Image picture(int width, int height, int channels, std::uint64_t seed) {
  CounterRng rng(seed, 0, 0, RandomUse::kTest);
  Image image(height, width, channels);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int shape = (x / 5 + y / 7 + c) % 3 * 90 + (x + 2 * y) % 40;
        image.pixels[at++] = static_cast<std::uint8_t>(std::min(255, shape + below(rng, 36)));
      }
    }
  }
  return image;
}

Bytes make_file(const Image& image, const JpegOptions& options) {
  return make_jpeg(image, options);
}

// The EXIF segment follows the first marker.
Bytes with_orientation(const Bytes& jpeg, int orientation) {
  const unsigned char exif[] = {
      0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,
      'M',  'M',  0, 42, 0,   0,   0,   8,   0, 1,
      1,    18,   0, 3,  0,   0,   0,   1,   0, static_cast<unsigned char>(orientation),
      0,    0,    0, 0,  0,   0};
  const auto* begin = reinterpret_cast<const std::byte*>(exif);
  Bytes out = jpeg;
  out.insert(out.begin() + 2, begin, begin + sizeof(exif));
  return out;
}

Box random_box(CounterRng& rng, Size whole) {
  const auto part = [&rng](int side, int& first, int& count) {
    // Often at a border, often only a few pixels.
    count = 1 + below(rng, below(rng, 3) == 0 ? std::min(side, 9) : side);
    const int most = side - count;
    const int where = below(rng, 4);
    first = where == 0 ? 0 : where == 1 ? most : below(rng, most + 1);
  };
  Box box;
  part(whole.height_px, box.top, box.height_px);
  part(whole.width_px, box.left, box.width_px);
  return box;
}

// The pixels of a scaled picture that represent those of a box, by checking all of them. Pixel i of
// an axis represents the full pixels from begins(i) to begins(i + 1).
struct Range {
  int first = -1;
  int count = 0;
  double begin = 0;
};
Range range_of(int first, int count, int side, int scale, bool is_mirrored) {
  const int scaled = (side + scale - 1) / scale;
  const auto begins = [&](int i) { return is_mirrored ? side - (scaled - i) * scale : i * scale; };
  Range range;
  for (int i = 0; i < scaled; ++i) {
    if (begins(i + 1) <= first || begins(i) >= first + count) continue;
    if (range.first < 0) {
      range.first = i;
      range.begin = static_cast<double>(first - begins(i)) / scale;
    }
    ++range.count;
  }
  return range;
}

struct Turned {
  bool rows;  // count rows from the other end
  bool columns;
};
// Which axes of the stored picture an orientation reverses.
Turned turned(int orientation) {
  switch (orientation) {
    case 2:
      return {false, true};
    case 3:
      return {true, true};
    case 4:
      return {true, false};
    case 6:
      return {false, true};
    case 7:
      return {true, true};
    case 8:
      return {true, false};
    default:
      return {false, false};
  }
}

void expect_is_cut(const Bytes& file, const DecodeSettings& settings, int orientation,
                   CounterRng& rng, int rounds, const std::string& what) {
  for (const int scale : {1, 2, 4, 8}) {
    const auto whole = decode(file, settings, {}, {}, scale);
    ASSERT_TRUE(whole) << what << ": " << whole.error().detail;
    const Size size{whole->whole_height_px, whole->whole_width_px};
    for (int round = 0; round < rounds; ++round) {
      const Box box = random_box(rng, size);
      std::optional<Size> asked;
      const auto crop = decode_crop(file, settings, [&](Size s) {
        asked = s;
        return Crop{box, scale};
      });
      const std::string where = what + " at 1/" + std::to_string(scale) + ", " +
                                std::to_string(size.width_px) + "x" +
                                std::to_string(size.height_px) + ": " +
                                std::to_string(box.width_px) + "x" + std::to_string(box.height_px) +
                                " at " + std::to_string(box.left) + "," + std::to_string(box.top);
      ASSERT_TRUE(crop) << where << ": " << crop.error().detail;
      EXPECT_EQ(asked, size) << where;
      const Turned is = turned(orientation);
      const Range rows = range_of(box.top, box.height_px, size.height_px, scale, is.rows);
      const Range columns = range_of(box.left, box.width_px, size.width_px, scale, is.columns);
      const Image want = cut(whole->view(), {rows.first, columns.first, rows.count, columns.count});
      ASSERT_EQ(static_cast<const Image&>(*crop), want) << where;
      EXPECT_EQ(crop->scale, scale);
      EXPECT_EQ(crop->whole_height_px, size.height_px);
      EXPECT_EQ(crop->whole_width_px, size.width_px);
      EXPECT_EQ(crop->region.top, rows.begin) << where;
      EXPECT_EQ(crop->region.left, columns.begin) << where;
      EXPECT_EQ(crop->region.height * scale, box.height_px) << where;
      EXPECT_EQ(crop->region.width * scale, box.width_px) << where;
    }
  }
}

struct Kind {
  const char* name;
  int channels;
  JpegOptions options;
};
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> kKinds{
      {"4:2:0", 3, {}},
      {"4:2:0 of 100", 3, {.quality = 100}},
      {"4:2:0 of 10", 3, {.quality = 10}},
      {"4:2:0, restarts", 3, {.restart_rows = 1}},
      {"4:4:4", 3, {.luma_width = 1}},
      {"4:4:4, restarts", 3, {.restart_rows = 2, .luma_width = 1}},
      {"4:2:2", 3, {.luma_width = 2}},
      {"4:4:0", 3, {.luma_width = 1, .luma_height = 2}},
      {"4:1:1", 3, {.luma_width = 4}},
      {"4:1:0", 3, {.luma_width = 4, .luma_height = 2}},
      {"gray", 1, {}},
      {"gray of other factors", 1, {.luma_width = 2, .luma_height = 2}},
      {"progressive", 3, {.progressive = true}},
      {"scan by scan", 3, {.one_by_one = true}},
      {"arithmetic", 3, {.arithmetic = true}},
      {"four inks", 4, {}},
      {"four plain inks", 4, {.plain_inks = true}},
  };
  return kKinds;
}

TEST(Crop, IsCutFromTheWhole) {
  CounterRng rng(1, 0, 0, RandomUse::kTest);
  for (const Kind& kind : kinds()) {
    for (int picture_number = 0; picture_number < 12; ++picture_number) {
      const int most = picture_number % 3 == 0 ? 20 : picture_number % 3 == 1 ? 70 : 200;
      const Image image = picture(1 + below(rng, most), 1 + below(rng, most), kind.channels,
                                  static_cast<std::uint64_t>(picture_number));
      expect_is_cut(make_file(image, kind.options), {}, 1, rng, 12, kind.name);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Crop, IsTurnedAsTheWholeIs) {
  CounterRng rng(2, 0, 0, RandomUse::kTest);
  const DecodeSettings settings{.orientation = Orientation::kApply};
  for (const Kind& kind : kinds()) {
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const Image image =
          picture(1 + below(rng, 90), 1 + below(rng, 90), kind.channels, rng.next_u32());
      expect_is_cut(with_orientation(make_file(image, kind.options), orientation), settings,
                    orientation, rng, 6,
                    std::string(kind.name) + ", orientation " + std::to_string(orientation));
      if (HasFatalFailure()) return;
    }
  }
}

// Expects decode_crop() of a damaged file to agree with decode().
void expect_agrees(const Bytes& damaged, const Crop& wanted, const std::string& what) {
  const DecodeSettings settings{.max_pixels = 1 << 20};
  const auto whole = decode(damaged, settings, {}, {}, wanted.scale);
  std::optional<Range> rows;
  std::optional<Range> columns;
  bool fits = true;
  const auto crop = [&]() -> Expected<DecodedCrop, DecodeError> {
    try {
      return decode_crop(damaged, settings, [&](Size size) {
        rows = range_of(wanted.box.top, wanted.box.height_px, size.height_px, wanted.scale, false);
        columns =
            range_of(wanted.box.left, wanted.box.width_px, size.width_px, wanted.scale, false);
        return wanted;
      });
    } catch (const Error&) {  // the damage changed its size
      fits = false;
      return DecodeError{};
    }
  }();
  if (!fits) return;
  if (!crop) {
    ASSERT_FALSE(whole) << what << ": " << crop.error().detail;
    EXPECT_EQ(whole.error().kind, crop.error().kind) << what;
    EXPECT_EQ(whole.error().detail, crop.error().detail) << what;
  } else if (whole) {
    EXPECT_EQ(static_cast<const Image&>(*crop),
              cut(whole->view(), {rows->first, columns->first, rows->count, columns->count}))
        << what;
    if (whole->damage == Damage::kNone) {
      EXPECT_EQ(crop->damage, Damage::kNone) << what;
    }
  }
}

TEST(Crop, OfADamagedFileIsThatOfTheWholeOrAboveTheDamage) {
  CounterRng rng(3, 0, 0, RandomUse::kTest);
  for (const Kind& kind : kinds()) {
    const Image image = picture(61, 47, kind.channels, 1);
    const Bytes sound = make_file(image, kind.options);
    for (int round = 0; round < 150; ++round) {
      Bytes damaged = sound;
      for (int flips = 1 + below(rng, 3); flips > 0; --flips) {
        // Damages compressed data more often than headers.
        const int size = static_cast<int>(sound.size());
        const int at = below(rng, 4) == 0 ? below(rng, size) : size - 1 - below(rng, size / 2);
        damaged[static_cast<std::size_t>(at)] ^= static_cast<std::byte>(1 << below(rng, 8));
      }
      const Crop crop{random_box(rng, {47, 61}), 1 << below(rng, 4)};
      expect_agrees(damaged, crop, std::string(kind.name) + ", round " + std::to_string(round));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Crop, OfAFileThatEndsEarlyHasTheRightPixelsOrNone) {
  CounterRng rng(4, 0, 0, RandomUse::kTest);
  int above = 0;
  for (const Kind& kind : kinds()) {
    const Bytes sound = make_file(picture(61, 47, kind.channels, 2), kind.options);
    const auto whole = decode(sound, {});
    for (std::size_t count = 1; count < sound.size(); count += 1 + sound.size() / 150) {
      const Box box = random_box(rng, {47, 61});
      const Bytes part(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(count));
      const auto crop = decode_crop(part, {}, [&](Size) { return Crop{box}; });
      if (!crop) {
        EXPECT_EQ(crop.error().kind, decode(part, {}).error().kind) << kind.name << " " << count;
        continue;
      }
      ASSERT_EQ(static_cast<const Image&>(*crop), cut(whole->view(), box))
          << kind.name << " " << count;
      EXPECT_LT(box.top + box.height_px, 47) << kind.name << " " << count;
      ++above;
    }
  }
  EXPECT_GT(above, 100);
}

TEST(Crop, ToTheLastRowIsRefusedWhereTheWholeIs) {
  const Bytes sound = make_jpeg(picture(61, 47, 3, 2));
  const Bytes part(sound.begin(), sound.end() - 3);
  const auto of = [&](const Box& box) {
    return decode_crop(part, {}, [&](Size) { return Crop{box}; });
  };
  EXPECT_FALSE(of({40, 2, 7, 9}));
  EXPECT_FALSE(decode(part, {}));
  EXPECT_TRUE(of({2, 2, 7, 9}));
}

TEST(Crop, OfOtherFormatsIsCutFromTheWhole) {
  CounterRng rng(5, 0, 0, RandomUse::kTest);
  const Image image = picture(45, 31, 3, 3);
  const cv::Mat mat(image.height_px, image.width_px, CV_8UC3,
                    const_cast<std::uint8_t*>(image.pixels.data()));
  for (const char* ending : {".png", ".bmp", ".ppm", ".tiff", ".webp"}) {
    std::vector<std::uint8_t> out;
    ASSERT_TRUE(opencv_encode(ending, mat, out));
    const auto* begin = reinterpret_cast<const std::byte*>(out.data());
    expect_is_cut(Bytes(begin, begin + out.size()), {}, 1, rng, 10, ending);
  }
}

TEST(Crop, AsksForTheMemoryOfItsPixels) {
  const auto asked_of = [](const Bytes& file, const DecodeSettings& settings) {
    std::uint64_t asked = 0;
    EXPECT_TRUE(decode_crop(file, settings,
                            [](Size) {
                              return Crop{{90, 40, 300, 400}, 2};
                            },
                            {[&](std::uint64_t bytes) { asked = bytes; }, {}}));
    return asked;
  };
  const Bytes jpeg = make_jpeg(picture(610, 470, 3, 4));
  constexpr std::uint64_t kPixels = 150 * 200 * 3;
  EXPECT_GE(asked_of(jpeg, {}), kPixels);
  EXPECT_LT(asked_of(jpeg, {}), kPixels * 4 / 3);  // includes libjpeg's rows
  EXPECT_EQ(asked_of(with_orientation(jpeg, 2), {.orientation = Orientation::kApply}),
            2 * kPixels);  // because it is turned
  const auto large = decode_crop(jpeg, {.max_pixels = 610 * 470 - 1}, [](Size) {
    return Crop{{9, 4, 7, 11}};
  });
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind, DecodeError::Kind::kTooLarge);
}

TEST(Crop, ThatLeavesThePictureIsRefused) {
  const Bytes jpeg = make_jpeg(picture(20, 10, 3, 5));
  const auto crop = [&](const Box& box) {
    return decode_crop(jpeg, {}, [&](Size) { return Crop{box}; });
  };
  EXPECT_TRUE(crop({0, 0, 10, 20}));
  for (const Box& box :
       {Box{0, 0, 11, 20}, Box{0, 0, 10, 21}, Box{-1, 0, 3, 3}, Box{0, -1, 3, 3}, Box{8, 0, 3, 3},
        Box{0, 18, 3, 3}, Box{0, 0, 0, 3}, Box{0, 0, 3, 0}, Box{1 << 30, 0, 1 << 30, 3}}) {
    EXPECT_THROW(static_cast<void>(crop(box)), Error) << box.top << " " << box.left;
  }
}

TEST(Crop, ScaleNeverGoesBelowTheTarget) {
  EXPECT_EQ(covering_scale({224, 224}, {224, 224}), 1);
  EXPECT_EQ(covering_scale({447, 900}, {224, 224}), 1);
  EXPECT_EQ(covering_scale({448, 448}, {224, 224}), 2);
  EXPECT_EQ(covering_scale({4000, 896}, {224, 224}), 4);
  EXPECT_EQ(covering_scale({4000, 3000}, {224, 224}), 8);
  EXPECT_EQ(covering_scale({10, 10}, {224, 224}), 1);
  EXPECT_EQ(covering_scale({30, 16}, {3, 4}), 4);
}

TEST(Crop, IsResizedAsTheCutOfTheWhole) {
  CounterRng rng(6, 0, 0, RandomUse::kTest);
  for (const Kind& kind : kinds()) {
    const Bytes file = make_file(picture(151, 98, kind.channels, 6), kind.options);
    const auto whole = decode(file, {});
    ASSERT_TRUE(whole);
    for (int round = 0; round < 8; ++round) {
      const Box box = random_box(rng, {98, 151});
      const Size target{1 + below(rng, 40), 1 + below(rng, 40)};
      const auto resized = decode_and_resize_crop(
          file, {}, [&](Size) { return box; }, target);
      ASSERT_TRUE(resized) << kind.name;
      EXPECT_EQ(static_cast<const Image&>(*resized),
                resize(part_of(whole->view(), box), target.height_px, target.width_px,
                       ResampleFilter::kBilinear))
          << kind.name;
      const auto scaled = decode_and_resize_crop(
          file, {}, [&](Size) { return box; }, target, CropScale::kCovering);
      ASSERT_TRUE(scaled) << kind.name;
      const int scale = covering_scale({box.height_px, box.width_px}, target);
      const auto crop = decode_crop(file, {}, [&](Size) { return Crop{box, scale}; });
      EXPECT_EQ(static_cast<const Image&>(*scaled),
                resize(crop->view(), crop->region, target.height_px, target.width_px,
                       ResampleFilter::kBilinear))
          << kind.name;
    }
  }
}

std::filesystem::path photos() {
  const char* folder = std::getenv("WINNOW_TEST_DATA");
  return (folder != nullptr
              ? std::filesystem::path(folder)
              : std::filesystem::path(PROJECT_SOURCE_DIR).parent_path() / "shared" / "data") /
         "imagenet-200.tar";
}

TEST(Crop, OfPhotosIsThatOfTheWholeAndNearItAtAScale) {
  if (!std::filesystem::exists(photos())) {
    GTEST_SKIP() << "there is no " << photos() << " (set WINNOW_TEST_DATA to its folder)";
  }
  const auto source = datasets::open_source(photos(), {});
  constexpr Size kTarget{112, 112};
  double off = 0;
  double count = 0;
  int most = 0;
  for (std::size_t i = 0; i < source->entries().size(); ++i) {
    const auto payload = source->read(i);
    ASSERT_TRUE(payload);
    const Bytes& bytes = std::get<Bytes>(*payload);
    const auto whole = decode(bytes, {});
    ASSERT_TRUE(whole);
    CounterDraws draws(CounterRng(7, 0, i, RandomUse::kTest));
    const Box box = random_resized_crop(whole->height_px, whole->width_px, {}, draws);
    const auto choose = [&](Size) { return box; };
    const auto want = resize(part_of(whole->view(), box), 112, 112, ResampleFilter::kBilinear);
    const auto full = decode_and_resize_crop(bytes, {}, choose, kTarget);
    ASSERT_TRUE(full);
    ASSERT_EQ(static_cast<const Image&>(*full), want) << i;
    if (covering_scale({box.height_px, box.width_px}, kTarget) == 1) continue;
    const auto scaled = decode_and_resize_crop(bytes, {}, choose, kTarget, CropScale::kCovering);
    ASSERT_TRUE(scaled);
    for (std::size_t k = 0; k < want.pixels.size(); ++k) {
      const int difference = std::abs(int{scaled->pixels[k]} - int{want.pixels[k]});
      off += difference;
      most = std::max(most, difference);
    }
    count += static_cast<double>(want.pixels.size());
  }
  RecordProperty("mean", std::to_string(off / count));
  RecordProperty("most", most);
  EXPECT_GT(count, 0);
  EXPECT_LT(off / count, 2.5) << "levels on average, " << most << " at most";
}

}  // namespace winnow::pipeline::crop_test
