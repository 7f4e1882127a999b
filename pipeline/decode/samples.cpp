#include "pipeline/decode/samples.h"

#include <algorithm>
#include <array>

#include "pipeline/decode/bmp_internal.h"
#include "pipeline/decode/errors_internal.h"
#include "pipeline/decode/matte_internal.h"
#include "pipeline/decode/png_internal.h"
#include "pipeline/decode/samples_internal.h"
#include "pipeline/decode/warnings_internal.h"
#include "pipeline/decode/webp_internal.h"

namespace winnow::pipeline {
namespace {

std::uint8_t to_8_bits(std::uint8_t sample) { return sample; }
std::uint8_t to_8_bits(std::uint16_t sample) { return static_cast<std::uint8_t>(sample >> 8); }

// Row `y`: gray; B, G, R; or B, G, R, A.
template <class Sample>
const Sample* row_of(const Samples& samples, int y) {
  return reinterpret_cast<const Sample*>(samples.row(y));
}

template <class Sample>
Image to_image(const Samples& samples, const Header& header) {
  const int from_channels = samples.channels;
  Image image(samples.height_px, samples.width_px, from_channels < 3 || header.gray ? 1 : 3);
  std::uint8_t* to = image.pixels.data();
  for (int y = 0; y < samples.height_px; ++y) {
    const auto* from = row_of<Sample>(samples, y);
    for (int x = 0; x < samples.width_px; ++x, from += from_channels) {
      if (image.channels == 1) {
        *to++ = to_8_bits(from[0]);
      } else {
        *to++ = to_8_bits(from[2]);
        *to++ = to_8_bits(from[1]);
        *to++ = to_8_bits(from[0]);
      }
    }
  }
  return image;
}

// The alpha of a pixel.
template <class Sample>
std::uint8_t alpha_at(const Sample* pixel, int channels, const Header& header) {
  if (channels == 4) return to_8_bits(pixel[3]);
  return header.transparent_gray == pixel[0] ? 0 : 255;
}

template <class Sample>
Image to_image(const Samples& samples, const Header& header, const Matte& matte) {
  const int from_channels = samples.channels;
  const bool gray = from_channels < 3 || header.gray;
  Image image(samples.height_px, samples.width_px, gray && matte.is_gray() ? 1 : 3);
  const std::array<int, 3> under{matte.red, matte.green, matte.blue};
  std::uint8_t* to = image.pixels.data();
  for (int y = 0; y < samples.height_px; ++y) {
    const auto* from = row_of<Sample>(samples, y);
    for (int x = 0; x < samples.width_px; ++x, from += from_channels) {
      const int alpha = alpha_at(from, from_channels, header);
      for (int c = 0; c < image.channels; ++c) {
        int colour = to_8_bits(from[from_channels < 3 ? 0 : 2 - c]);
        if (header.alpha == Alpha::kMultiplied) colour = divided(colour, alpha);
        *to++ = composed_over(under[static_cast<std::size_t>(c)], colour, alpha);
      }
    }
  }
  return image;
}

bool has_alpha(const Samples& samples, const Header& header) {
  if (samples.channels == 4) return header.alpha != Alpha::kNone;
  return samples.channels == 1 && header.transparent_gray.has_value();
}

template <class Sample>
Image alpha_of(const Samples& samples, const Header& header) {
  const int from_channels = samples.channels;
  Image alpha(samples.height_px, samples.width_px, 1);
  std::uint8_t* to = alpha.pixels.data();
  for (int y = 0; y < samples.height_px; ++y) {
    const auto* from = row_of<Sample>(samples, y);
    for (int x = 0; x < samples.width_px; ++x, from += from_channels) {
      *to++ = alpha_at(from, from_channels, header);
    }
  }
  return alpha;
}

template <class Sample>
DecodedImage to_image(const Samples& samples, const Header& header,
                      const std::optional<Matte>& matte, bool keep_alpha) {
  const bool alpha = has_alpha(samples, header);
  if (matte && alpha) return to_image<Sample>(samples, header, *matte);
  DecodedImage image(to_image<Sample>(samples, header));
  if (keep_alpha && alpha) keep_unless_opaque(image, alpha_of<Sample>(samples, header), header);
  return image;
}

Expected<DecodedImage, DecodeError> image_of(const Samples& samples, const Header& header,
                                             const std::optional<Matte>& matte,
                                             const DecodeHooks& hooks) {
  const bool same_size = static_cast<std::uint64_t>(samples.height_px) == header.height_px &&
                         static_cast<std::uint64_t>(samples.width_px) == header.width_px;
  if (!same_size) return corrupt("its size is not what its header says");
  const bool keep_alpha = hooks.keep_alpha;
  if (samples.sample_bytes == 1) return to_image<std::uint8_t>(samples, header, matte, keep_alpha);
  return to_image<std::uint16_t>(samples, header, matte, keep_alpha);
}

}  // namespace

void keep_unless_opaque(DecodedImage& image, Image alpha, const Header& header) {
  const auto& values = alpha.pixels;
  const bool is_opaque = std::ranges::all_of(values, [](std::uint8_t a) { return a == 255; });
  if (is_opaque) return;
  image.alpha = std::move(alpha);
  image.is_multiplied = header.alpha == Alpha::kMultiplied;
}

Expected<DecodedImage, DecodeError> decode_bmp(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks) {
  const auto samples = read_bmp(encoded, header, hooks.stop);
  if (!samples) return samples.error();
  return image_of(*samples, header, matte, hooks);
}

Expected<DecodedImage, DecodeError> decode_png(BytesView encoded, const Header& header,
                                               const std::optional<Matte>& matte,
                                               const DecodeHooks& hooks) {
  auto png = read_png(encoded, hooks.stop);
  if (!png) return png.error();
  auto image = image_of(png->samples, header, matte, hooks);
  if (image) note_warnings(*image, std::move(png->first_warning), png->warnings);
  return image;
}

Expected<DecodedImage, DecodeError> decode_webp(BytesView encoded, const Header& header,
                                                const std::optional<Matte>& matte,
                                                const DecodeHooks& hooks) {
  const auto height = static_cast<int>(header.height_px);
  const auto width = static_cast<int>(header.width_px);
  if ((matte || hooks.keep_alpha) && header.alpha != Alpha::kNone) {
    const Samples samples(height, width, 4);
    const WebpTarget to{height, width, WebpOrder::kBgra, samples.bytes.get()};
    if (auto error = read_webp(encoded, to, hooks.stop)) return *std::move(error);
    return image_of(samples, header, matte, hooks);
  }
  Image image(height, width, 3);
  const WebpTarget to{height, width, WebpOrder::kRgb, image.pixels.data()};
  if (auto error = read_webp(encoded, to, hooks.stop)) return *std::move(error);
  return DecodedImage(std::move(image));
}

}  // namespace winnow::pipeline
