#pragma once

// jpeglib.h needs FILE.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdint>
#include <cstdlib>

#include "common/bytes.h"
#include "common/image.h"

namespace winnow::test {

struct JpegOptions {
  int quality = 90;
  bool progressive = false;
  int restart_rows = 0;
  bool arithmetic = false;
  bool plain_inks = false;  // CMYK instead of YCCK
  int luma_width = 0;       // sampling factors of Y; those of Cb and Cr are 1; 0: default
  int luma_height = 1;
  bool plain_scans = false;  // four progressive scans without refinement; the last may be repeated
  bool one_by_one = false;   // a separate scan for each of three components
};

// A JPEG by libjpeg. 1 channel: grey. 3: YCbCr. 4: inverted inks with Adobe's marker.
inline Bytes make_jpeg(int width, int height, int channels, const std::uint8_t* pixels,
                       const JpegOptions& options = {}) {
  jpeg_compress_struct codec{};
  jpeg_error_mgr errors{};
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &buffer, &size);
  codec.image_width = static_cast<JDIMENSION>(width);
  codec.image_height = static_cast<JDIMENSION>(height);
  codec.input_components = channels;
  codec.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, options.quality, TRUE);
  codec.restart_in_rows = options.restart_rows;
  codec.arith_code = options.arithmetic ? TRUE : FALSE;
  if (options.luma_width > 0) {
    codec.comp_info[0].h_samp_factor = options.luma_width;
    codec.comp_info[0].v_samp_factor = options.luma_height;
  }
  if (options.progressive) jpeg_simple_progression(&codec);
  static constexpr jpeg_scan_info kPlainScans[] = {{3, {0, 1, 2}, 0, 0, 0, 0},
                                                   {1, {0}, 1, 63, 0, 0},
                                                   {1, {1}, 1, 63, 0, 0},
                                                   {1, {2}, 1, 63, 0, 0}};
  if (options.plain_scans) {
    codec.scan_info = kPlainScans;
    codec.num_scans = 4;
  }
  static constexpr jpeg_scan_info kOneByOne[] = {
      {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  if (options.one_by_one) {
    codec.scan_info = kOneByOne;
    codec.num_scans = 3;
  }
  if (channels == 4 && !options.plain_inks) jpeg_set_colorspace(&codec, JCS_YCCK);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    auto* row = const_cast<std::uint8_t*>(pixels) + static_cast<std::size_t>(codec.next_scanline) *
                                                        static_cast<std::size_t>(width * channels);
    jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  const auto* begin = reinterpret_cast<const std::byte*>(buffer);
  Bytes bytes(begin, begin + size);
  jpeg_destroy_compress(&codec);
  std::free(buffer);
  return bytes;
}

inline Bytes make_jpeg(const Image& image, const JpegOptions& options = {}) {
  return make_jpeg(image.width_px, image.height_px, image.channels, image.pixels.data(), options);
}

}  // namespace winnow::test
