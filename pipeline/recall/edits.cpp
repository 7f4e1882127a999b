#include "pipeline/recall/edits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/resample.h"
#include "common/rng.h"
#include "pipeline/decode/decode.h"
#include "pipeline/decode/encode.h"

// Not by OpenCV, whose warps round differently in different versions: results of recall must not
// change.
namespace winnow::pipeline {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// Fills an image of this size with pixel(y, x, c).
template <class Pixel>
Image made(int height_px, int width_px, int channels, const Pixel& pixel) {
  Image image(height_px, width_px, channels);
  std::uint8_t* to = image.pixels.data();
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      for (int c = 0; c < channels; ++c) *to++ = pixel(y, x, c);
    }
  }
  return image;
}

std::uint8_t at(ImageView image, int y, int x, int c) {
  return image.row(y)[std::ptrdiff_t{x} * image.channels + c];
}

// Maps each byte by its value.
template <class Value>
Image mapped(ImageView image, const Value& value) {
  return made(image.height_px, image.width_px, image.channels,
              [&](int y, int x, int c) { return value(at(image, y, x, c)); });
}

Image part_of(ImageView image, int top, int left, int height, int width) {
  return made(height, width, image.channels,
              [&](int y, int x, int c) { return at(image, top + y, left + x, c); });
}

int scaled(int px, double by) { return std::max(1, static_cast<int>(std::lround(px * by))); }

Image as_jpeg(ImageView image, int quality) {
  auto decoded = decode(encode_jpeg(image, quality), {});
  if (!decoded) throw Error("a JPEG that was just made cannot be read: " + decoded.error().detail);
  return *std::move(decoded);
}

Image with_gamma(ImageView image, double gamma) {
  std::array<std::uint8_t, 256> table{};
  for (int v = 0; v < 256; ++v) {
    table[static_cast<std::size_t>(v)] = to_byte(255 * std::pow(v / 255.0, gamma));
  }
  return mapped(image, [&](std::uint8_t v) { return table[v]; });
}

Image blurred(ImageView image, double sigma_px) {
  const int reach = std::max(1, static_cast<int>(std::ceil(3 * sigma_px)));
  std::vector<double> weights;
  double total = 0;
  for (int i = -reach; i <= reach; ++i) {
    weights.push_back(std::exp(-i * i / (2 * sigma_px * sigma_px)));
    total += weights.back();
  }
  const auto step = static_cast<std::size_t>(image.channels);
  const std::size_t row_bytes = static_cast<std::size_t>(image.width_px) * step;
  std::vector<double> sums(row_bytes);
  // A row of means over the positions that `tap` gives for -reach..reach.
  const auto mean = [&](const auto& tap, std::uint8_t* to) {
    std::ranges::fill(sums, 0.0);
    for (int i = -reach; i <= reach; ++i) {
      const double weight = weights[static_cast<std::size_t>(i + reach)];
      const std::uint8_t* values = tap(i);
      for (std::size_t k = 0; k < row_bytes; ++k) sums[k] += weight * values[k];
    }
    std::ranges::transform(sums, to, [&](double sum) { return to_byte(sum / total); });
  };
  Image across(image.height_px, image.width_px, image.channels);
  Image out = across;
  std::vector<std::uint8_t> padded(row_bytes + 2 * static_cast<std::size_t>(reach) * step);
  const auto row_of = [&](Image& in, int y) {
    return in.pixels.data() + static_cast<std::size_t>(y) * row_bytes;
  };
  for (int y = 0; y < image.height_px; ++y) {
    for (std::size_t k = 0; k < padded.size(); ++k) {
      const int x = static_cast<int>(k / step) - reach;
      padded[k] = at(image, y, std::clamp(x, 0, image.width_px - 1), static_cast<int>(k % step));
    }
    mean([&](int i) { return padded.data() + static_cast<std::size_t>(reach + i) * step; },
         row_of(across, y));
  }
  for (int y = 0; y < image.height_px; ++y) {
    mean([&](int i) { return row_of(across, std::clamp(y + i, 0, image.height_px - 1)); },
         row_of(out, y));
  }
  return out;
}

// Brightens a stripe of a tenth of the height, in the lower third, by half.
Image watermarked(ImageView image) {
  const int top = image.height_px * 7 / 10;
  const int bottom = std::max(top + 1, image.height_px * 8 / 10);
  return made(image.height_px, image.width_px, image.channels, [&](int y, int x, int c) {
    const std::uint8_t v = at(image, y, x, c);
    const bool inside =
        y >= top && y < bottom && x >= image.width_px / 10 && x < image.width_px * 9 / 10;
    return inside ? to_byte((v + 255.0) / 2) : v;
  });
}

Image bordered(ImageView image, double share, std::uint8_t value) {
  const int around = scaled(std::max(image.height_px, image.width_px), share);
  return made(image.height_px + 2 * around, image.width_px + 2 * around, image.channels,
              [&](int y, int x, int c) {
                const bool inside = y >= around && y < around + image.height_px && x >= around &&
                                    x < around + image.width_px;
                return inside ? at(image, y - around, x - around, c) : value;
              });
}

// Crops a share of each side, three quarters of it at the top and left.
Image cropped(ImageView image, double share) {
  const int less_y = std::min(image.height_px - 1, scaled(image.height_px, share));
  const int less_x = std::min(image.width_px - 1, scaled(image.width_px, share));
  return part_of(image, less_y * 3 / 4, less_x * 3 / 4, image.height_px - less_y,
                 image.width_px - less_x);
}

// Around the centre, bilinear, black outside the picture.
Image rotated(ImageView image, double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const double middle_y = (image.height_px - 1) / 2.0;
  const double middle_x = (image.width_px - 1) / 2.0;
  return made(image.height_px, image.width_px, image.channels, [&](int y, int x, int c) {
    const double from_x = cosine * (x - middle_x) + sine * (y - middle_y) + middle_x;
    const double from_y = -sine * (x - middle_x) + cosine * (y - middle_y) + middle_y;
    const int x0 = static_cast<int>(std::floor(from_x));
    const int y0 = static_cast<int>(std::floor(from_y));
    const auto value = [&](int py, int px) {
      const bool inside = py >= 0 && py < image.height_px && px >= 0 && px < image.width_px;
      return inside ? static_cast<double>(at(image, py, px, c)) : 0.0;
    };
    const double fx = from_x - x0;
    const double fy = from_y - y0;
    return to_byte((value(y0, x0) * (1 - fx) + value(y0, x0 + 1) * fx) * (1 - fy) +
                   (value(y0 + 1, x0) * (1 - fx) + value(y0 + 1, x0 + 1) * fx) * fy);
  });
}

Image gray_as_colour(ImageView image) {
  const Image gray = to_gray(image);
  return made(image.height_px, image.width_px, image.channels,
              [&](int y, int x, int) { return at(gray.view(), y, x, 0); });
}

// A copy as found on the web: slightly cropped, scaled, made lighter or darker, and encoded, with
// random amounts for each copy and picture.
Image copied(ImageView image, std::uint32_t copy, std::uint64_t picture) {
  CounterRng rng(0, copy, picture, RandomUse::kStudy);
  const auto between = [&rng](double least, double most) {
    return least + (most - least) * rng.next_u32() * 0x1p-32;
  };
  const auto around_one = [&between](double most) {
    return std::exp(between(-std::log(most), std::log(most)));
  };
  const double keep_y = between(0.9, 1);
  const double keep_x = between(0.9, 1);
  const int height = scaled(image.height_px, keep_y);
  const int width = scaled(image.width_px, keep_x);
  const Image part =
      part_of(image, static_cast<int>(between(0, 1) * (image.height_px - height + 1)),
              static_cast<int>(between(0, 1) * (image.width_px - width + 1)), height, width);
  const double scale = around_one(2);
  const Image sized =
      resize(part.view(), scaled(height, scale), scaled(width, scale), ResampleFilter::kBilinear);
  const Image toned = with_gamma(sized.view(), around_one(1.25));
  return as_jpeg(toned.view(), static_cast<int>(between(50, 96)));
}

// Collects edits in order. add() takes edits without random choices.
class EditList {
 public:
  template <class Apply>
  void add(std::string_view family, std::string name, const Apply& apply) {
    edits_.push_back({family, std::move(name),
                      [apply](ImageView image, std::uint64_t) { return apply(image); }});
  }
  void add_copy(std::uint32_t copy) {
    edits_.push_back(
        {"copy", "all at once, copy " + std::to_string(copy),
         [=](ImageView image, std::uint64_t picture) { return copied(image, copy, picture); }});
  }
  std::vector<Edit> take() && { return std::move(edits_); }

 private:
  std::vector<Edit> edits_;
};

// hundredths_text(125) is "1.25"; tenths_text(5) is "0.5".
std::string hundredths_text(int n) {
  return std::to_string(n / 100) + "." + std::to_string(n % 100 / 10) + std::to_string(n % 10);
}
std::string tenths_text(int n) { return std::to_string(n / 10) + "." + std::to_string(n % 10); }

void add_rendered(EditList& edits) {
  for (const int quality : {95, 75, 50, 30, 10}) {
    edits.add("jpeg", "JPEG quality " + std::to_string(quality),
              [=](ImageView image) { return as_jpeg(image, quality); });
  }
  for (const int percent : {25, 50, 75, 150, 200}) {
    edits.add("scale", "scaled to " + std::to_string(percent) + " %", [=](ImageView image) {
      return resize(image, scaled(image.height_px, percent / 100.0),
                    scaled(image.width_px, percent / 100.0), ResampleFilter::kBilinear);
    });
  }
  for (const int hundredths : {50, 80, 125, 200}) {
    edits.add("gamma", "gamma " + hundredths_text(hundredths),
              [=](ImageView image) { return with_gamma(image, hundredths / 100.0); });
  }
  for (const int thousandths : {2, 5, 10}) {
    edits.add("blur", "blurred by " + tenths_text(thousandths) + " % of a side",
              [=](ImageView image) {
                const int side = std::max(image.height_px, image.width_px);
                return blurred(image, std::max(0.3, side * thousandths / 1000.0));
              });
  }
}

void add_reframed(EditList& edits) {
  edits.add("watermark", "watermark", watermarked);
  for (const int percent : {2, 5}) {
    edits.add("border", std::to_string(percent) + " % white border",
              [=](ImageView image) { return bordered(image, percent / 100.0, 255); });
    edits.add("border", std::to_string(percent) + " % black border",
              [=](ImageView image) { return bordered(image, percent / 100.0, 0); });
  }
  for (const int percent : {1, 2, 5, 10}) {
    edits.add("crop", std::to_string(percent) + " % cropped",
              [=](ImageView image) { return cropped(image, percent / 100.0); });
  }
  for (const int degrees : {1, 2, 5}) {
    edits.add("rotation", "rotated by " + std::to_string(degrees) + " degrees",
              [=](ImageView image) { return rotated(image, degrees); });
  }
  edits.add("flip", "mirrored left to right", [](ImageView image) {
    return made(image.height_px, image.width_px, image.channels,
                [&](int y, int x, int c) { return at(image, y, image.width_px - 1 - x, c); });
  });
  edits.add("flip", "mirrored top to bottom", [](ImageView image) {
    return made(image.height_px, image.width_px, image.channels,
                [&](int y, int x, int c) { return at(image, image.height_px - 1 - y, x, c); });
  });
}

}  // namespace

std::vector<Edit> common_edits() {
  EditList edits;
  add_rendered(edits);
  add_reframed(edits);
  edits.add("format", "six levels a colour, as of GIF", [](ImageView image) {
    return mapped(image, [](std::uint8_t v) { return to_byte(std::round(v / 51.0) * 51.0); });
  });
  edits.add("format", "gray", gray_as_colour);
  for (std::uint32_t copy = 1; copy <= 4; ++copy) edits.add_copy(copy);
  return std::move(edits).take();
}

}  // namespace winnow::pipeline
