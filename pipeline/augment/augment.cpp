#include "pipeline/augment/augment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <variant>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"
#include "pipeline/augment/ops/colour.h"
#include "pipeline/augment/ops/geometry.h"

namespace winnow::pipeline {
namespace {

// A strip is cut to this many times the target's length before it is enlarged. Otherwise a picture
// of 100,000 x 1 px would take gigabytes to show its middle.
constexpr std::int64_t kLongest = 16;

// Python's round(excess / 2.0), as in torchvision's CenterCrop: rounds half to even.
int centre_offset(int excess) noexcept {
  const int low = excess / 2;
  return excess % 2 == 0 || low % 2 == 0 ? low : low + 1;
}

ImageView cut(ImageView image, const Box& box) noexcept {
  image.data = image.row(box.top) + std::ptrdiff_t{box.left} * image.channels;
  image.height_px = box.height_px;
  image.width_px = box.width_px;
  return image;
}

ImageView cut_centre(ImageView image, int height_px, int width_px) noexcept {
  return cut(image, {centre_offset(image.height_px - height_px),
                     centre_offset(image.width_px - width_px), height_px, width_px});
}

// The smallest size of the image's shape that covers the target; the longer side is truncated, as
// in torchvision's Resize.
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

// out(y, x) = image(y + top, x' + left), zero outside the image. With `flip`, x' counts from the
// other end. One channel is repeated for three.
void place(const ImageView& image, int top, int left, bool flip, PixelSpan target) noexcept {
  const int height = target.height_px;
  const int width = target.width_px;
  const auto channels = static_cast<std::size_t>(target.channels);
  const std::size_t row_bytes = target.row_bytes();
  std::uint8_t* out = target.data;
  // Columns [first, last) of the unflipped output that are inside the image.
  const int first = std::clamp(-left, 0, width);
  const int last = std::clamp(image.width_px - left, first, width);
  const bool whole_rows = !flip && image.channels == target.channels && left == 0 &&
                          image.width_px == width && top >= 0 && top + height <= image.height_px;
  if (whole_rows && image.row_stride_bytes == static_cast<std::ptrdiff_t>(row_bytes)) {
    // As one block: then the C library need not read the destination first.
    std::memcpy(out, image.row(top), static_cast<std::size_t>(height) * row_bytes);
    return;
  }
  for (int y = 0; y < height; ++y, out += row_bytes) {
    const int from_y = y + top;
    if (from_y < 0 || from_y >= image.height_px || first == last) {
      std::fill_n(out, row_bytes, std::uint8_t{0});
      continue;
    }
    const auto count = static_cast<std::size_t>(last - first);
    const std::uint8_t* from = image.row(from_y) + std::ptrdiff_t{first + left} * image.channels;
    const int begin = flip ? width - last : first;  // first of the written columns
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

// Placeholder for steps that draw no numbers here.
class NoDraws final : public Draws {
 public:
  std::uint32_t below(std::uint32_t) override { fail(); }
  float uniform() override { fail(); }

 private:
  [[noreturn]] static void fail() {
    throw Error(
        "an augmentation step drew a random number, although it is listed as deterministic");
  }
};

// The random numbers of a sample, one stream for each kind of step. Every kind must be listed, or
// std::visit() does not compile.
struct Streams {
  explicit Streams(const AugmentKey& key) noexcept
      : crop(of(key, RandomUse::kCrop)),
        flip(of(key, RandomUse::kFlip)),
        translate(of(key, RandomUse::kTranslate)),
        jitter(of(key, RandomUse::kJitter)),
        policy(of(key, RandomUse::kPolicy)),
        erase(of(key, RandomUse::kErase)),
        turns(of({key.seed, 0, key.id}, RandomUse::kFlip)) {}

  static CounterDraws of(const AugmentKey& key, RandomUse use) noexcept {
    return CounterDraws(CounterRng(key.seed, key.epoch, key.id, use));
  }

  Draws& of(const Step& step) {
    return std::visit([this](const auto& s) -> Draws& { return of_kind(s); }, step);
  }

  CounterDraws crop, flip, translate, jitter, policy, erase;
  CounterDraws turns;  // for alternating flips
  NoDraws none;

 private:
  Draws& of_kind(const CropStep&) { return crop; }
  Draws& of_kind(const FlipStep&) { return flip; }
  Draws& of_kind(const AlternatingFlipStep&) { return turns; }
  Draws& of_kind(const TranslateStep&) { return translate; }
  Draws& of_kind(const JitterStep&) { return jitter; }
  Draws& of_kind(const RandAugmentStep&) { return policy; }
  Draws& of_kind(const TrivialAugmentStep&) { return policy; }
  Draws& of_kind(const AutoAugmentStep&) { return policy; }
  Draws& of_kind(const EraseStep&) { return erase; }
  Draws& of_kind(const CutoutStep&) { return erase; }
  Draws& of_kind(const ResizedCropStep&) { return none; }  // drawn by crop_of()
  Draws& of_kind(const CentreCropStep&) { return none; }
  Draws& of_kind(const MixupStep&) { return none; }  // both drawn by mix_of()
  Draws& of_kind(const CutmixStep&) { return none; }
};

// Whether a sample is flipped: if the number is high, so that with 1/2 the first bit decides.
bool flips(const FlipStep& step, Draws& draws) {
  return draws.uniform() >= static_cast<float>(1 - step.probability);
}

// Standard normal random numbers (Box and Muller, 1958).
class NormalDraws {
 public:
  explicit NormalDraws(Draws& draws) noexcept : draws_(draws) {}
  double next() {
    has_other_ = !has_other_;
    if (!has_other_) return other_;
    const double u = double{draws_.uniform()} + 0x1.0p-25;  // never 0
    const double radius = std::sqrt(-2 * std::log(u));
    const double angle = 2 * std::numbers::pi * double{draws_.uniform()};
    other_ = radius * std::sin(angle);
    return radius * std::cos(angle);
  }

 private:
  Draws& draws_;
  double other_ = 0;
  bool has_other_ = false;
};

void erase_with_noise(PixelSpan pixels, const Box& box, const Levels& levels, Draws& draws) {
  NormalDraws normal(draws);
  for (int y = box.top; y < box.top + box.height_px; ++y) {
    std::uint8_t* to = pixels.row(y) + std::ptrdiff_t{box.left} * pixels.channels;
    for (int x = 0; x < box.width_px; ++x) {
      for (std::size_t c = 0; c < static_cast<std::size_t>(pixels.channels); ++c) {
        const double level = levels.mean[c] + levels.deviation[c] * normal.next();
        *to++ = static_cast<std::uint8_t>(std::clamp(std::floor(level + 0.5), 0.0, 255.0));
      }
    }
  }
}

// Applies operations to `pixels`, using `scratch` where needed.
class Changer {
 public:
  explicit Changer(PixelSpan pixels) noexcept : pixels_(pixels) {}

  void change(const Change& change, Interpolation interpolation) {
    const double value = change.value;
    switch (change.op) {
      case Op::kIdentity:
        return;
      case Op::kShearX:
        return move(shear_x(value), interpolation);
      case Op::kShearY:
        return move(shear_y(value), interpolation);
      case Op::kTranslateX:
        return move(translation(static_cast<int>(value), 0), interpolation);
      case Op::kTranslateY:
        return move(translation(0, static_cast<int>(value)), interpolation);
      case Op::kRotate:
        return rotate(copy(), value, interpolation, pixels_);
      case Op::kBrightness:
        return adjust_brightness(pixels_, value);
      case Op::kSaturation:
        return adjust_saturation(pixels_, value, scratch_);
      case Op::kContrast:
        return adjust_contrast(pixels_, value);
      case Op::kSharpness:
        return adjust_sharpness(pixels_, value, scratch_);
      case Op::kPosterize:
        return posterize(pixels_, static_cast<int>(value));
      case Op::kSolarize:
        return solarize(pixels_, value);
      case Op::kAutoContrast:
        return autocontrast(pixels_);
      case Op::kEqualize:
        return equalize(pixels_);
      case Op::kInvert:
        return invert(pixels_);
      case Op::kHue:
        return adjust_hue(pixels_, value);
    }
  }
  void change(const Changes& changes, Interpolation interpolation) {
    for (const Change& one : changes) change(one, interpolation);
  }
  void move(const Affine& affine, Interpolation interpolation) {
    transform(copy(), affine, interpolation, pixels_);
  }
  void crop(int top, int left, Padding mode) {
    (mode == Padding::kZero ? place : place_reflected)(copy(), top, left, false, pixels_);
  }
  PixelSpan pixels() const noexcept { return pixels_; }

 private:
  ImageView copy() {
    scratch_.assign(pixels_.data, pixels_.data + pixels_.size());
    ImageView view = pixels_.view();
    view.data = scratch_.data();
    return view;
  }

  PixelSpan pixels_;
  std::vector<std::uint8_t> scratch_;
};

// The start of a crop in a padded picture, relative to the picture without padding.
struct Offset {
  int top = 0;
  int left = 0;
};
Offset offset_of(const CropStep& step, int height_px, int width_px, Draws& draws) {
  const int padding = step.padding_px;
  const Box box =
      random_crop(height_px + 2 * padding, width_px + 2 * padding, height_px, width_px, draws);
  return {box.top - padding, box.left - padding};
}

// Applies one step to pixels of the sample's size.
struct DoStep {
  Changer& changer;
  std::uint32_t epoch;
  Draws& draws;
  const Levels& levels;

  int height() const noexcept { return changer.pixels().height_px; }
  int width() const noexcept { return changer.pixels().width_px; }

  void operator()(const ResizedCropStep&) {}  // both applied before
  void operator()(const CentreCropStep&) {}
  void operator()(const CropStep& step) {
    const Offset at = offset_of(step, height(), width(), draws);
    changer.crop(at.top, at.left, step.mode);
  }
  void operator()(const FlipStep& step) {
    if (flips(step, draws)) flip_horizontally(changer.pixels());
  }
  void operator()(const AlternatingFlipStep&) {
    if (alternating_flip(epoch, draws)) flip_horizontally(changer.pixels());
  }
  void operator()(const TranslateStep& step) {
    const Shift shift = random_translation(step.x, step.y, height(), width(), draws);
    changer.move(translation(shift.right_px, shift.down_px), Interpolation::kNearest);
  }
  void operator()(const JitterStep& step) {
    changer.change(colour_jitter(step.jitter, draws), Interpolation::kNearest);
  }
  void operator()(const RandAugmentStep& step) {
    changer.change(rand_augment(step.options, height(), width(), draws), step.interpolation);
  }
  void operator()(const TrivialAugmentStep& step) {
    changer.change(trivial_augment_wide(step.bins, height(), width(), draws), step.interpolation);
  }
  void operator()(const AutoAugmentStep& step) {
    changer.change(auto_augment(step.policy, height(), width(), draws), step.interpolation);
  }
  void operator()(const EraseStep& step) {
    const auto box = random_erasing(step.erasing, height(), width(), draws);
    if (!box) return;
    if (step.value.random) return erase_with_noise(changer.pixels(), *box, levels, draws);
    erase(changer.pixels(), *box, step.value.colour);
  }
  void operator()(const CutoutStep& step) {
    const Box box = cutout(step.side_px, height(), width(), draws);
    erase(changer.pixels(), box, step.value);
  }
  void operator()(const MixupStep&) {}  // both applied to the batch
  void operator()(const CutmixStep&) {}
};

// Step `i` if it exists and has that kind, else null.
template <class Kind>
const Kind* step_of(const Recipe& recipe, std::size_t i) noexcept {
  return i < recipe.size ? std::get_if<Kind>(&recipe.steps[i]) : nullptr;
}

// The leading crop (of a picture that already has the sample's size) and flip, which are applied
// while copying.
struct Placing {
  std::optional<Offset> crop;
  Padding mode = Padding::kZero;
  bool flip = false;
  std::size_t next = 0;  // next step to apply
};
Placing placing_of(const Recipe& recipe, bool is_sized, const Geometry& target, std::uint32_t epoch,
                   Streams& streams) {
  Placing how;
  how.next = brings_to_size(recipe) ? 1 : 0;
  const auto* crop = step_of<CropStep>(recipe, how.next);
  if (crop != nullptr && is_sized) {
    how.crop = offset_of(*crop, target.height_px, target.width_px, streams.crop);
    how.mode = crop->mode;
    ++how.next;
  }
  if (const auto* step = step_of<FlipStep>(recipe, how.next)) {
    how.flip = flips(*step, streams.flip);
    ++how.next;
  } else if (step_of<AlternatingFlipStep>(recipe, how.next) != nullptr) {
    how.flip = alternating_flip(epoch, streams.turns);
    ++how.next;
  }
  return how;
}

void do_steps(std::size_t first, const Recipe& recipe, std::uint32_t epoch, Streams& streams,
              const Levels& levels, PixelSpan pixels) {
  Changer changer(pixels);
  for (std::size_t i = first; i < recipe.size; ++i) {
    const Step& step = recipe.steps[i];
    std::visit(DoStep{changer, epoch, streams.of(step), levels}, step);
  }
}

// Copies a picture of the sample's size, or the part of a larger one from `at`.
void put(const ImageView& image, Offset at, const Placing& how, PixelSpan pixels) {
  const Offset from = how.crop.value_or(at);
  (how.mode == Padding::kReflect ? place_reflected : place)(image, from.top, from.left, how.flip,
                                                            pixels);
}

// The recipe, target size and random key of one augmentation.
struct Augmenting {
  const Recipe& recipe;
  const Geometry& target;
  const AugmentKey& key;
  const Levels& levels;
};

// Copies the picture and applies all steps except those that brought it to size.
void finish(const ImageView& image, Offset at, const Augmenting& how_to, std::uint8_t* out) {
  const auto& [recipe, target, key, levels] = how_to;
  Streams streams(key);
  const bool is_sized = image.height_px == target.height_px && image.width_px == target.width_px;
  const Placing how = placing_of(recipe, is_sized, target, key.epoch, streams);
  const PixelSpan pixels{out, target.height_px, target.width_px, target.channels};
  put(image, at, how, pixels);
  do_steps(how.next, recipe, key.epoch, streams, levels, pixels);
}

// finish() for a part that is first resized to the sample's size, directly into the output if
// possible.
void finish_resized(ImageView part, const Augmenting& how_to, std::uint8_t* out) {
  const auto& [recipe, target, key, levels] = how_to;
  constexpr ResampleFilter kFilter = ResampleFilter::kBilinear;
  Streams streams(key);
  const Placing how = placing_of(recipe, true, target, key.epoch, streams);
  const PixelSpan pixels{out, target.height_px, target.width_px, target.channels};
  if (how.crop || part.channels != target.channels) {
    put(resize(part, target.height_px, target.width_px, kFilter).view(), {}, how, pixels);
  } else {
    resize(part, target.height_px, target.width_px, kFilter, how.flip, out);
  }
  do_steps(how.next, recipe, key.epoch, streams, levels, pixels);
}

bool one_or_three(int channels) noexcept { return channels == 1 || channels == 3; }

void check(const ImageView& image, const Geometry& geometry, std::span<const std::uint8_t> out) {
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
    throw Error("a sample takes " + std::to_string(bytes) + " bytes, but its buffer has " +
                std::to_string(out.size()));
  }
}

// Converts to luma before the resize if one channel is required, as with Pillow's convert("L"). The
// result may be stored in `gray`.
ImageView in_channels(ImageView image, int channels, Image& gray) {
  if (image.channels == channels || channels == 3) return image;
  gray = to_gray(image);
  return gray.view();
}

// The size with the shorter side equal to `short_px`.
Size short_side_size(const ImageView& image, int short_px) noexcept {
  const std::int64_t h = image.height_px;
  const std::int64_t w = image.width_px;
  if (w <= h) return {static_cast<int>(h * short_px / w), short_px};
  return {short_px, static_cast<int>(w * short_px / h)};
}

// CenterCrop: pads smaller images with zeros, with the smaller half first.
int crop_offset(int size, int target) noexcept {
  return size < target ? -((target - size) / 2) : centre_offset(size - target);
}

}  // namespace

std::optional<Box> crop_of(const Recipe& recipe, int height_px, int width_px,
                           const AugmentKey& key) {
  const auto* step = step_of<ResizedCropStep>(recipe, 0);
  if (step == nullptr) return std::nullopt;
  CounterDraws draws = Streams::of(key, RandomUse::kResizedCrop);
  return random_resized_crop(height_px, width_px, step->range, draws);
}

void do_step(const Step& step, PixelSpan pixels, std::uint32_t epoch, Draws& draws,
             const Levels& levels) {
  Changer changer(pixels);
  std::visit(DoStep{changer, epoch, draws, levels}, step);
}

std::optional<Mix> mix_of(const Recipe& recipe, const Geometry& geometry, std::uint64_t seed,
                          std::uint64_t batch) {
  CounterDraws draws(CounterRng(seed, 0, batch, RandomUse::kMix));
  return random_mix(mixing_of(recipe), geometry.height_px, geometry.width_px, draws);
}

void augment_crop(ImageView part, const Recipe& recipe, const Geometry& geometry,
                  const AugmentKey& key, std::span<std::uint8_t> out, const Levels& levels) {
  check(part, geometry, out);
  Image gray;
  part = in_channels(part, geometry.channels, gray);
  finish_resized(part, {recipe, geometry, key, levels}, out.data());
}

void augment(ImageView image, const Recipe& recipe, const Geometry& geometry, const AugmentKey& key,
             std::span<std::uint8_t> out, const Levels& levels) {
  check(image, geometry, out);
  if (const auto box = crop_of(recipe, image.height_px, image.width_px, key)) {
    return augment_crop(cut(image, *box), recipe, geometry, key, out, levels);
  }
  const auto* centre = step_of<CentreCropStep>(recipe, 0);
  const bool same_size = centre == nullptr && image.height_px == geometry.height_px &&
                         image.width_px == geometry.width_px;
  if (!same_size) image = cut_strip(image, geometry);
  Image gray;
  image = in_channels(image, geometry.channels, gray);
  if (same_size) return finish(image, {}, {recipe, geometry, key, levels}, out.data());

  const Size size = centre != nullptr ? short_side_size(image, centre->resize_px)
                                      : covering_size(image, geometry);
  const Image sized = resize(image, size.height_px, size.width_px, ResampleFilter::kBilinear);
  if (centre != nullptr) {
    return finish(sized.view(),
                  {crop_offset(size.height_px, geometry.height_px),
                   crop_offset(size.width_px, geometry.width_px)},
                  {recipe, geometry, key, levels}, out.data());
  }
  finish(cut_centre(sized.view(), geometry.height_px, geometry.width_px), {},
         {recipe, geometry, key, levels}, out.data());
}

}  // namespace winnow::pipeline
