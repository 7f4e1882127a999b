// The memory that decode() announces, compared with the memory that a process needs for it.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <functional>
#include <opencv2/core.hpp>
#include <string>

#include "common/file.h"
#include "pipeline/decode/decode.h"
#include "tests/common/opencv_codecs.h"
#include "tests/common/temporary_folder.h"
#include "tests/common/tiff_maker.h"
#include "tests/datasets/wire_writer.h"
#include "tests/pipeline/jpeg_maker.h"
#include "tests/pipeline/tiff_writer.h"

namespace winnow::pipeline {
using namespace test;
namespace decode_memory_test {

// Runs `work` in a child process, which must succeed.
void in_a_process(const std::function<void()>& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::uint64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

// A picture of 8 x 8 pixels.
std::string small_bmp() {
  std::string bmp(54 + 8 * 8 * 3, '\0');
  bmp.replace(0, 2, "BM");
  for (const auto& [at, value] :
       {std::pair{10, 54}, {14, 40}, {18, 8}, {22, 8}, {26, 1}, {28, 24}}) {
    bmp[static_cast<std::size_t>(at)] = static_cast<char>(value);
  }
  return bmp;
}

struct Needed {
  std::uint64_t announced = 0;
  std::uint64_t measured = 0;
  bool decoded = false;
};

class DecodeMemory : public testing::Test {
 protected:
  // Measures the decoding of a file. The file is made in another process, because decoding would
  // reuse memory that making it leaves in the heap.
  Needed need(const std::function<Bytes()>& make, int scale = 1) {
    const auto file = folder_ / "image";
    const auto result = folder_ / "result";
    in_a_process([&] {
      const Bytes bytes = make();
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    });
    in_a_process([&] {
      cv::setNumThreads(1);
      const std::string bytes = read_text(file);
      Needed needed;
      // OpenCV and libtiff keep some memory for good after the first image.
      static_cast<void>(decode(as_bytes(small_bmp()), {}));
      static_cast<void>(decode(as_bytes(make_tiff({.width = 8, .height = 8})), {}));
      ::malloc_trim(0);
      const std::uint64_t before = status_bytes("VmRSS");
      const BeforeAllocation announce = [&](std::uint64_t count) { needed.announced = count; };
      needed.decoded =
          static_cast<bool>(decode(as_bytes(bytes), {}, {announce, {}, true}, {}, scale));
      needed.measured = status_bytes("VmHWM") - before;
      std::ofstream(result) << needed.announced << ' ' << needed.measured << ' ' << needed.decoded;
    });
    Needed needed;
    std::ifstream(result) >> needed.announced >> needed.measured >> needed.decoded;
    return needed;
  }

  // `much` is the most that the announced memory may be, as a multiple of the measured memory.
  void expect(const std::string& name, const std::function<Bytes()>& make, double much = 1.15,
              int scale = 1) {
    const Needed needed = need(make, scale);
    constexpr double kPixels = kSide * kSide;
    std::printf("%-34s %5.1f announced %5.1f measured bytes a pixel\n", name.c_str(),
                static_cast<double>(needed.announced) / kPixels,
                static_cast<double>(needed.measured) / kPixels);
    EXPECT_TRUE(needed.decoded) << name;
    // Code, and tables that any image needs.
    constexpr std::uint64_t kFixed = 3u << 20;
    EXPECT_LE(needed.measured, needed.announced + kFixed) << name;
    EXPECT_LE(static_cast<double>(needed.announced),
              much * static_cast<double>(needed.measured) + kFixed)
        << name;
  }

  static constexpr int kSide = 3000;
  TemporaryFolder folder_;
};

cv::Mat picture(int type) {
  cv::Mat mat(3000, 3000, type);
  for (int y = 0; y < mat.rows; ++y) {
    for (std::size_t x = 0; x < mat.step; ++x) {
      mat.ptr(y)[x] = static_cast<std::uint8_t>((x * x / 997 + static_cast<std::size_t>(y)) / 4);
    }
  }
  return mat;
}

Bytes encode(const std::string& ending, int type, const std::vector<int>& options = {}) {
  std::vector<std::uint8_t> out;
  opencv_encode(ending, picture(type), out, options);
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + out.size()};
}

Bytes jpeg(int channels, const JpegOptions& options) {
  const cv::Mat mat = picture(CV_8UC(channels));
  return make_jpeg(mat.cols, mat.rows, channels, mat.data, options);
}

Bytes tiff(const TiffOptions& options) {
  const std::string file = make_tiff(options);
  const BytesView view = as_bytes(file);
  return {view.begin(), view.end()};
}

bool can_measure() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return status_bytes("VmHWM") > 0;
#endif
}

TEST_F(DecodeMemory, OfJpegs) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  expect("jpeg 4:2:0", [] { return jpeg(3, {}); });
  expect("jpeg gray", [] { return jpeg(1, {}); });
  expect("jpeg of four inks", [] { return jpeg(4, {}); });
  expect("jpeg 4:2:0 progressive", [] { return jpeg(3, {.progressive = true}); });
  expect("jpeg 4:4:4 progressive", [] { return jpeg(3, {.progressive = true, .luma_width = 1}); });
  expect("jpeg gray progressive", [] { return jpeg(1, {.progressive = true}); });
  expect("jpeg of four inks progressive", [] { return jpeg(4, {.progressive = true}); });
  expect("jpeg, a scan for each colour", [] { return jpeg(3, {.one_by_one = true}); });
  expect("jpeg 4:1:1 progressive", [] { return jpeg(3, {.progressive = true, .luma_width = 4}); });
  expect(
      "jpeg / 8", [] { return jpeg(3, {}); }, 1.15, 8);
  expect(
      "jpeg 4:2:0 progressive / 8", [] { return jpeg(3, {.progressive = true}); }, 1.15, 8);
  expect(
      "jpeg 4:1:1 / 2", [] { return jpeg(3, {.luma_width = 4}); }, 1.15, 2);
}

TEST_F(DecodeMemory, OfPngs) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  expect("png gray", [] { return encode(".png", CV_8UC1); });
  expect("png", [] { return encode(".png", CV_8UC3); });
  expect("png with alpha", [] { return encode(".png", CV_8UC4); });
  expect("png gray of 16 bits", [] { return encode(".png", CV_16UC1); });
  expect("png of 16 bits", [] { return encode(".png", CV_16UC3); });
  expect("png with alpha of 16 bits", [] { return encode(".png", CV_16UC4); });
  expect(
      "png / 2", [] { return encode(".png", CV_8UC3); }, 1.15, 2);
}

// A PNG chunk; `data` begins with its type.
std::string chunk(const std::string& data) {
  const auto big_endian = [](std::uint64_t value) {
    std::string out;
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255);
    return out;
  };
  const auto* body = reinterpret_cast<const Bytef*>(data.data());
  return big_endian(data.size() - 4) + data +
         big_endian(crc32(0, body, static_cast<uInt>(data.size())));
}

TEST_F(DecodeMemory, OfTextsInAPngIsNone) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  const Needed needed = need([] {
    const std::string text = deflated(std::string(7'900'000, 'a'));
    std::string texts;
    for (int i = 0; i < 30; ++i) texts += chunk(std::string("zTXtk\0\0", 7) + text);
    std::vector<std::uint8_t> png;
    opencv_encode(".png", cv::Mat(10, 10, CV_8UC3, cv::Scalar(1, 2, 3)), png);
    png.insert(png.begin() + 33, texts.begin(), texts.end());  // after IHDR
    const auto* begin = reinterpret_cast<const std::byte*>(png.data());
    return Bytes(begin, begin + png.size());
  });
  EXPECT_TRUE(needed.decoded);
  EXPECT_LT(needed.measured, 4u << 20);
}

TEST_F(DecodeMemory, OfTiffs) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  const auto of = [](TiffOptions o) {
    o.width = o.height = kSide;
    return [o] { return tiff(o); };
  };
  expect("tiff gray", of({.samples = 1}));
  expect("tiff", of({}));
  expect("tiff with alpha", of({.samples = 4}));
  expect("tiff of 16 bits", of({.bits = 16}));
  expect("tiff gray of 16 bits", of({.samples = 1, .bits = 16}));
  expect("tiff with alpha of 16 bits", of({.samples = 4, .bits = 16}));
  expect("tiff of two colours", of({.samples = 1, .bits = 1}));
  expect("tiff plain", of({.deflated = false}));
  expect("tiff in strips", of({.strip_rows = 16}));
  expect("tiff in tiles", of({.tile_width = 256, .tile_height = 256}));
  expect("tiff in one tile", of({.tile_width = 3008, .tile_height = 3008}));
  expect("tiff in one tile of 16 bits", of({.bits = 16, .tile_width = 3008, .tile_height = 3008}));
  expect("tiff by LZW", [] { return encode(".tiff", CV_8UC3); });
  expect("tiff in one tile, an image of 10 x 10",
         [] { return tiff({.width = 10, .height = 10, .tile_width = 3008, .tile_height = 3008}); });
}

TEST_F(DecodeMemory, OfTiffsOfOneStrip) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  const auto of = [](TiffSamples s, int orientation = 1) {
    return [=] {
      const std::string file =
          write_tiff(s, {.width = kSide, .height = kSide, .orientation = orientation});
      const BytesView view = as_bytes(file);
      return Bytes(view.begin(), view.end());
    };
  };
  expect("tiff by LZW, one strip", of({}));
  // Its dictionary may be as large as the strip.
  expect("tiff by LZMA, one strip", of({.compression = COMPRESSION_LZMA}), 2);
  expect("tiff by JPEG, one strip", of({.compression = COMPRESSION_JPEG}));
  // The data may be lossless.
  expect("tiff by WebP, one strip", of({.compression = COMPRESSION_WEBP}), 1.5);
  expect("tiff in planes", of({.planes = PLANARCONFIG_SEPARATE}));
  expect("tiff of Y, Cb and Cr", of({.photometric = PHOTOMETRIC_YCBCR, .subsampling = {2, 2}}));
  expect("tiff turned", of({}, 6));
}

TEST_F(DecodeMemory, OfOthers) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  expect("bmp", [] { return encode(".bmp", CV_8UC3); });
  expect("bmp gray", [] { return encode(".bmp", CV_8UC1); });
  expect("ppm", [] { return encode(".ppm", CV_8UC3); });
  expect("pgm", [] { return encode(".pgm", CV_8UC1); });
}

Bytes webp_of(const std::string& chunks) {
  const std::string file =
      "RIFF" + little_endian(static_cast<std::uint32_t>(chunks.size() + 4)) + "WEBP" + chunks;
  const BytesView view = as_bytes(file);
  return {view.begin(), view.end()};
}

// A file with EXIF at its end, as cameras and editors write it. `webp` has no alpha.
Bytes extended(const Bytes& webp) {
  const auto side_less_one = little_endian(std::uint32_t{3000 - 1}).substr(0, 3);
  const std::string exif = std::string("II*\0\x08\0\0\0", 8);
  return webp_of("VP8X" + little_endian(std::uint32_t{10}) + little_endian(std::uint32_t{8}) +
                 side_less_one + side_less_one + std::string(as_text(BytesView(webp).subspan(12))) +
                 "EXIF" + little_endian(std::uint32_t{8}) + exif);
}

TEST_F(DecodeMemory, OfWebps) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  const std::vector<int> lossy{cv::IMWRITE_WEBP_QUALITY, 80};
  const std::vector<int> lossless{cv::IMWRITE_WEBP_QUALITY, 101};
  expect("webp", [&] { return encode(".webp", CV_8UC3, lossy); });
  expect("webp with alpha", [&] { return encode(".webp", CV_8UC4, lossy); });
  expect("webp with EXIF", [&] { return extended(encode(".webp", CV_8UC3, lossy)); });
  expect("webp lossless", [&] { return encode(".webp", CV_8UC3, lossless); });
  expect("webp lossless with alpha", [&] { return encode(".webp", CV_8UC4, lossless); });
  expect("webp lossless with EXIF", [&] { return extended(encode(".webp", CV_8UC3, lossless)); });
}

class BitWriter {
 public:
  void put(std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i, ++bits_) {
      if (bits_ % 8 == 0) bytes_ += '\0';
      if ((value >> i & 1) != 0) bytes_.back() = static_cast<char>(bytes_.back() | 1 << bits_ % 8);
    }
  }
  // A prefix code is written with its highest bit first.
  void put_code(std::uint32_t code, int count) {
    for (int i = count - 1; i >= 0; --i) put(code >> i, 1);
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  std::size_t bits_ = 0;
};

// A lossless WebP of 1024 x 1024 pixels, by section 6 of the VP8L bitstream. Each 16 pixels have
// their own prefix codes of one symbol.
Bytes webp_of_many_codes() {
  constexpr std::uint32_t kSide = 1024;
  constexpr std::uint32_t kGroups = kSide * kSide / 16;
  BitWriter out;
  const auto put_one_symbol = [&] { out.put(0b0001, 4); };
  const auto put_256_symbols = [&](int others) {  // with codes of 8 bits
    out.put(0, 1);
    out.put(12 - 4, 4);
    for (int i = 0; i < 12; ++i) out.put(i == 2 || i == 11 ? 1 : 0, 3);  // lengths 0 and 8
    out.put(0, 1);
    for (int i = 0; i < 256 + others; ++i) out.put(i < 256 ? 1 : 0, 1);
  };
  out.put(0x2f, 8);
  out.put(kSide - 1, 14);
  out.put(kSide - 1, 14);
  out.put(0, 1 + 3 + 1 + 1);  // alpha, version, transforms, cache
  out.put(1, 1 + 3);          // codes for each 4 x 4 pixels
  out.put(0, 1);              // their picture has no cache
  put_256_symbols(24);
  put_256_symbols(0);
  for (int i = 0; i < 3; ++i) put_one_symbol();
  for (std::uint32_t group = 0; group < kGroups; ++group) {
    out.put_code(group & 255, 8);
    out.put_code(group >> 8, 8);
  }
  for (std::uint32_t i = 0; i < 5 * kGroups; ++i) put_one_symbol();
  const std::string data = out.bytes() + std::string(out.bytes().size() % 2, '\0');
  return webp_of("VP8L" + little_endian(static_cast<std::uint32_t>(data.size())) + data);
}

// The memory of these tables is documented, but not announced.
TEST_F(DecodeMemory, OfAWebpsCodeTables) {
  if (!can_measure()) GTEST_SKIP() << "memory cannot be measured here";
  const Needed needed = need(webp_of_many_codes);
  std::printf("65,536 groups of codes: %.1f kB each\n",
              static_cast<double>(needed.measured - needed.announced) / 65'536 / 1000);
  EXPECT_TRUE(needed.decoded);
  EXPECT_GT(needed.measured, std::uint64_t{100} << 20);
  EXPECT_LT(needed.measured, needed.announced + std::uint64_t{65'536} * 12'000);
}

}  // namespace decode_memory_test
}  // namespace winnow::pipeline
