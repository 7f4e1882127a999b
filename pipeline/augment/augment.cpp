#include "pipeline/augment/augment.h"

#include <algorithm>
#include <string>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"

namespace winnow::pipeline {
namespace {

constexpr int kPadding = 4;
// A strip is cut to this many times the target's length before it is enlarged: a picture 1 pixel
// high and 100,000 wide would otherwise ask for gigabytes to show its middle.
constexpr std::int64_t kLongest = 16;

// Python's round(excess / 2.0), which torchvision's CenterCrop uses: halves go to the even number.
int centre_offset(int excess) noexcept {
  const int low = excess / 2;
  return excess % 2 == 0 || low % 2 == 0 ? low : low + 1;
}

ImageView cut_centre(ImageView image, int height_px, int width_px) noexcept {
  const int top = centre_offset(image.height_px - height_px);
  const int left = centre_offset(image.width_px - width_px);
  image.data = image.row(top) + std::ptrdiff_t{left} * image.channels;
  image.height_px = height_px;
  image.width_px = width_px;
  return image;
}

// The smallest size of the image's shape that covers the target; as torchvision's Resize, the
// longer side is truncated.
struct Size {
  int height_px;
  int width_px;
};
Size covering_size(const ImageView& image, const Geometry& target) noexcept {
  const std::int64_t h = image.height_px;
  const std::int64_t w = image.width_px;
  if (target.height_px * w >= target.width_px * h) {
    return {target.height_px, static_cast<int>(w * target.height_px / h)};
  }
  return {static_cast<int>(h * target.width_px / w), target.width_px};
}

ImageView cut_strip(ImageView image, const Geometry& target) noexcept {
  const std::int64_t h = image.height_px;
  const std::int64_t w = image.width_px;
  const std::int64_t longest_w =
      std::max<std::int64_t>(1, kLongest * h * target.width_px / target.height_px);
  const std::int64_t longest_h =
      std::max<std::int64_t>(1, kLongest * w * target.height_px / target.width_px);
  return cut_centre(image, static_cast<int>(std::min(h, longest_h)),
                    static_cast<int>(std::min(w, longest_w)));
}

// out(y, x) = image(y + top, x' + left), zero outside the image, where x' counts from the other end
// when flipped. One channel becomes three by repetition.
void place(const ImageView& image, int top, int left, bool flip, const Geometry& target,
           std::uint8_t* out) noexcept {
  const int height = target.height_px;
  const int width = target.width_px;
  const auto channels = static_cast<std::size_t>(target.channels);
  const std::size_t row_bytes = static_cast<std::size_t>(width) * channels;
  // Columns [first, last) of the unflipped output that lie in the image.
  const int first = std::clamp(-left, 0, width);
  const int last = std::clamp(image.width_px - left, first, width);
  for (int y = 0; y < height; ++y, out += row_bytes) {
    const int from_y = y + top;
    if (from_y < 0 || from_y >= image.height_px || first == last) {
      std::fill_n(out, row_bytes, std::uint8_t{0});
      continue;
    }
    const auto count = static_cast<std::size_t>(last - first);
    const std::uint8_t* from = image.row(from_y) + std::ptrdiff_t{first + left} * image.channels;
    const int begin = flip ? width - last : first;  // of the columns written
    std::uint8_t* to = out + static_cast<std::size_t>(begin) * channels;
    std::fill(out, to, std::uint8_t{0});
    if (image.channels == target.channels) {
      if (!flip) {
        std::copy_n(from, count * channels, to);
      } else if (channels == 1) {
        std::reverse_copy(from, from + count, to);
      } else {
        for (std::size_t x = 0; x < count; ++x) {
          std::copy_n(from + (count - 1 - x) * 3, 3, to + x * 3);
        }
      }
    } else {
      for (std::size_t x = 0; x < count; ++x) {
        std::fill_n(to + x * 3, 3, from[flip ? count - 1 - x : x]);
      }
    }
    std::fill(to + count * channels, out + row_bytes, std::uint8_t{0});
  }
}

void place_recipe(const ImageView& image, Recipe recipe, const Geometry& target,
                  const AugmentKey& key, std::uint8_t* out) noexcept {
  if (recipe == Recipe::kNone) return place(image, 0, 0, false, target, out);
  CounterRng crop(key.seed, key.epoch, key.id, RandomUse::kCrop);
  const int top = static_cast<int>(crop.below(2 * kPadding + 1)) - kPadding;
  const int left = static_cast<int>(crop.below(2 * kPadding + 1)) - kPadding;
  const bool flip = CounterRng(key.seed, key.epoch, key.id, RandomUse::kFlip).below(2) == 1;
  place(image, top, left, flip, target, out);
}

}  // namespace

Recipe parse_recipe(std::string_view name) {
  if (name == "none") return Recipe::kNone;
  if (name == "cifar") return Recipe::kCifar;
  throw UsageError("there is no augmentation called '" + std::string(name) +
                   "'; use none or cifar");
}

std::string_view recipe_name(Recipe recipe) noexcept {
  return recipe == Recipe::kCifar ? "cifar" : "none";
}

void augment(ImageView image, Recipe recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out) {
  const auto one_or_three = [](int channels) { return channels == 1 || channels == 3; };
  if (geometry.height_px < 1 || geometry.width_px < 1 || !one_or_three(geometry.channels)) {
    throw UsageError("samples must be at least 1x1 with 1 or 3 channels, not " +
                     std::to_string(geometry.height_px) + "x" + std::to_string(geometry.width_px) +
                     "x" + std::to_string(geometry.channels));
  }
  if (image.height_px < 1 || image.width_px < 1 || !one_or_three(image.channels)) {
    throw Error("an image of " + std::to_string(image.height_px) + "x" +
                std::to_string(image.width_px) + "x" + std::to_string(image.channels) +
                " cannot be augmented; it must be at least 1x1 with 1 or 3 channels");
  }
  const std::size_t bytes = static_cast<std::size_t>(geometry.height_px) *
                            static_cast<std::size_t>(geometry.width_px) *
                            static_cast<std::size_t>(geometry.channels);
  if (out.size() != bytes) {
    throw Error("a sample takes " + std::to_string(bytes) + " bytes but was given room for " +
                std::to_string(out.size()));
  }

  Image gray;  // luma before the resize, as who opens an image with Pillow's convert("L") has it
  const bool same_size =
      image.height_px == geometry.height_px && image.width_px == geometry.width_px;
  if (!same_size) image = cut_strip(image, geometry);
  if (image.channels == 3 && geometry.channels == 1) {
    gray = to_gray(image);
    image = gray.view();
  }
  if (same_size) return place_recipe(image, recipe, geometry, key, out.data());

  const Size size = covering_size(image, geometry);
  const Image sized = resize(image, size.height_px, size.width_px, ResampleFilter::kBilinear);
  place_recipe(cut_centre(sized.view(), geometry.height_px, geometry.width_px), recipe, geometry,
               key, out.data());
}

}  // namespace winnow::pipeline
