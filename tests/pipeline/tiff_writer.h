#pragma once

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/image.h"

namespace winnow::test {

// TIFFs of many kinds, written by libtiff, with a picture of gradients.

// The layout of the pixels in a file.
struct TiffLayout {
  std::uint32_t width = 37;
  std::uint32_t height = 29;
  std::uint32_t strip_rows = 0;  // 0: one strip
  std::uint32_t tile_width = 0;  // 0: strips
  std::uint32_t tile_height = 0;
  bool big_endian = false;
  int orientation = 1;
  bool is_big = false;  // a BigTIFF
};

// The format of its samples.
struct TiffSamples {
  int photometric = PHOTOMETRIC_RGB;
  int bits = 8;
  int count = 3;
  int planes = PLANARCONFIG_CONTIG;
  int compression = COMPRESSION_LZW;
  int predictor = 1;
  int extra = -1;  // meaning of the last sample; -1: a colour
  std::array<int, 2> subsampling{0, 0};
};

struct WrittenTiff {
  std::string bytes;
  std::size_t at = 0;
};

inline tmsize_t tiff_write_some(thandle_t handle, void* from, tmsize_t count) {
  auto& to = *static_cast<WrittenTiff*>(handle);
  const auto size = static_cast<std::size_t>(count);
  to.bytes.resize(std::max(to.bytes.size(), to.at + size));
  std::memcpy(to.bytes.data() + to.at, from, size);
  to.at += size;
  return count;
}
inline tmsize_t tiff_read_some(thandle_t handle, void* to, tmsize_t count) {
  auto& from = *static_cast<WrittenTiff*>(handle);
  const std::size_t size = std::min(static_cast<std::size_t>(count), from.bytes.size() - from.at);
  std::memcpy(to, from.bytes.data() + from.at, size);
  from.at += size;
  return static_cast<tmsize_t>(size);
}
inline toff_t tiff_seek_to(thandle_t handle, toff_t offset, int whence) {
  auto& file = *static_cast<WrittenTiff*>(handle);
  if (whence == SEEK_CUR) offset += file.at;
  if (whence == SEEK_END) offset += file.bytes.size();
  file.at = offset;
  return offset;
}
inline int tiff_close_none(thandle_t) { return 0; }
inline toff_t tiff_size_of(thandle_t handle) {
  return static_cast<WrittenTiff*>(handle)->bytes.size();
}

inline std::uint32_t tiff_strip_rows(const TiffLayout& layout) {
  return layout.strip_rows > 0 ? layout.strip_rows : layout.height;
}

inline void set_tiff_fields(TIFF* tiff, const TiffSamples& s, const TiffLayout& layout) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, layout.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, layout.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, s.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, s.count);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, s.compression);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, s.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, s.planes);
  if (layout.orientation != 1) TIFFSetField(tiff, TIFFTAG_ORIENTATION, layout.orientation);
  if (layout.tile_width > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, layout.tile_width);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, layout.tile_height);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, tiff_strip_rows(layout));
  }
  if (s.compression == COMPRESSION_LZMA) TIFFSetField(tiff, TIFFTAG_LZMAPRESET, 1);
  if (s.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, s.predictor);
  if (s.extra >= 0) {
    const auto kind = static_cast<std::uint16_t>(s.extra);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  if (s.subsampling[0] > 0) {
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, s.subsampling[0], s.subsampling[1]);
  }
  if (s.compression == COMPRESSION_JPEG && s.photometric == PHOTOMETRIC_YCBCR &&
      s.planes == PLANARCONFIG_CONTIG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (s.photometric == PHOTOMETRIC_PALETTE) {
    std::array<std::vector<std::uint16_t>, 3> map;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 1 << s.bits; ++i) {
        map[static_cast<std::size_t>(c)].push_back(
            static_cast<std::uint16_t>((i * (7919 + 104 * c) + 40'000 * c) & 65'535));
      }
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0].data(), map[1].data(), map[2].data());
  }
}

// Gradients with some noise, so that every codec has something to do.
inline std::uint8_t tiff_slope(std::uint32_t x, std::uint32_t y, int sample) {
  const std::uint32_t noise = (x * 2654435761U ^ y * 40503U) >> 7;
  return static_cast<std::uint8_t>(3 * x + 2 * y + static_cast<std::uint32_t>(50 * sample) +
                                   (noise % 11 == 0 ? noise % 60 : 0));
}

// Arbitrary bytes.
inline std::vector<std::uint8_t> tiff_some_bytes(std::size_t size, std::uint32_t seed) {
  std::vector<std::uint8_t> out(size);
  for (std::size_t i = 0; i < size; ++i) {
    out[i] = tiff_slope(static_cast<std::uint32_t>(i / 5), seed, 0);
  }
  return out;
}

// The samples of a strip or tile: the same picture in any layout.
inline std::vector<std::uint8_t> tiff_samples_of(const TiffSamples& s, const Box& box, int plane) {
  const bool separate = s.planes == PLANARCONFIG_SEPARATE;
  std::vector<std::uint8_t> out;
  for (int y = box.top; y < box.top + box.height_px; ++y) {
    for (int x = box.left; x < box.left + box.width_px; ++x) {
      for (int i = 0; i < (separate ? 1 : s.count); ++i) {
        const std::uint8_t value = tiff_slope(static_cast<std::uint32_t>(x),
                                              static_cast<std::uint32_t>(y), separate ? plane : i);
        out.insert(out.end(), static_cast<std::size_t>(s.bits) / 8, value);
      }
    }
  }
  return out;
}

inline std::string write_tiff(const TiffSamples& s, const TiffLayout& layout) {
  WrittenTiff file;
  const std::string mode =
      std::string("w") + (layout.big_endian ? "b" : "l") + (layout.is_big ? "8" : "");
  TIFF* tiff = TIFFClientOpen("TIFF", mode.c_str(), &file, tiff_read_some, tiff_write_some,
                              tiff_seek_to, tiff_close_none, tiff_size_of, nullptr, nullptr);
  set_tiff_fields(tiff, s, layout);
  const bool tiled = layout.tile_width > 0;
  const std::uint32_t width = tiled ? layout.tile_width : layout.width;
  const std::uint32_t rows = tiled ? layout.tile_height : tiff_strip_rows(layout);
  const std::uint32_t across = (layout.width + width - 1) / width;
  const std::uint32_t per_plane = across * ((layout.height + rows - 1) / rows);
  const std::uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  bool good = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t top = i % per_plane / across * rows;
    const std::uint32_t here = tiled ? rows : std::min(rows, layout.height - top);
    const tmsize_t size = tiled ? TIFFTileSize(tiff) : TIFFVStripSize(tiff, here);
    const Box box{static_cast<int>(top), static_cast<int>(i % across * width),
                  static_cast<int>(here), static_cast<int>(width)};
    auto block = s.bits >= 8 && s.bits % 8 == 0 && s.subsampling[0] == 0
                     ? tiff_samples_of(s, box, static_cast<int>(i / per_plane))
                     : tiff_some_bytes(static_cast<std::size_t>(size), i);
    good = good && static_cast<tmsize_t>(block.size()) == size &&
           (tiled ? TIFFWriteEncodedTile(tiff, i, block.data(), size)
                  : TIFFWriteEncodedStrip(tiff, i, block.data(), size)) >= 0;
  }
  TIFFClose(tiff);
  if (!good) throw std::runtime_error("libtiff cannot write such a TIFF");
  return file.bytes;
}

}  // namespace winnow::test
