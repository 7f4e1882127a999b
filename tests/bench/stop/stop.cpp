// Times the longest intervals in which decoders do not check whether to stop; see --help.

#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/decode/decode.h"
#include "tests/common/growth.h"
#include "tests/pipeline/jpeg_maker.h"
#include "tests/pipeline/tiff_writer.h"

namespace {

using namespace winnow;
using namespace winnow::pipeline;

constexpr const char* kHelp =
    "bench_stop [--megapixels 40]\n\n"
    "Decodes a square picture of noise of each format, and tells the seconds of CPU that it took,\n"
    "how often the decoder asked whether to stop, and the longest that it went without, which is\n"
    "how late an ingest ends that is stopped then. Fails above 2 s. The largest pictures that are\n"
    "read by default have 179 megapixels.\n";

struct Kind {
  const char* name;
  std::function<Bytes(int side)> make;
};

cv::Mat noise(int side, int type, int values) {
  cv::Mat mat(side, side, type);
  cv::setRNGSeed(1);
  cv::randu(mat, 0, values);
  return mat;
}

Bytes encode(const char* ending, const cv::Mat& mat, const std::vector<int>& options = {}) {
  std::vector<std::uint8_t> out;
  cv::imencode(ending, mat, out, options);
  const auto* begin = reinterpret_cast<const std::byte*>(out.data());
  return {begin, begin + out.size()};
}

Kind by_opencv(const char* name, const char* ending, int type, int values,
               const std::vector<int>& options = {}) {
  return {name, [=](int side) { return encode(ending, noise(side, type, values), options); }};
}

Kind jpeg(const char* name, const test::JpegOptions& options) {
  return {name, [=](int side) {
            return test::make_jpeg(side, side, 3, noise(side, CV_8UC3, 256).data, options);
          }};
}

Kind tiff(const char* name, const test::TiffSamples& samples, std::uint32_t strip_rows = 0,
          bool tiled = false) {
  return {name, [=](int side) {
            const auto length = static_cast<std::uint32_t>(side);
            const std::uint32_t tile = tiled ? (length + 15) / 16 * 16 : 0;
            const std::string file = test::write_tiff(samples, {.width = length,
                                                                .height = length,
                                                                .strip_rows = strip_rows,
                                                                .tile_width = tile,
                                                                .tile_height = tile});
            const BytesView view = as_bytes(file);
            return Bytes(view.begin(), view.end());
          }};
}

std::vector<Kind> kinds() {
  const std::vector<int> fast{cv::IMWRITE_PNG_COMPRESSION, 1};
  return {jpeg("jpeg", {}),
          jpeg("jpeg 4:4:4 progressive", {.progressive = true, .luma_width = 1}),
          by_opencv("png of 16 bits, alpha", ".png", CV_16UC4, 4096, fast),
          by_opencv("webp", ".webp", CV_8UC3, 256, {cv::IMWRITE_WEBP_QUALITY, 90}),
          by_opencv("webp, alpha", ".webp", CV_8UC4, 256, {cv::IMWRITE_WEBP_QUALITY, 90}),
          by_opencv("webp, one value", ".webp", CV_8UC3, 1, {cv::IMWRITE_WEBP_QUALITY, 101}),
          by_opencv("webp lossless", ".webp", CV_8UC4, 64, {cv::IMWRITE_WEBP_QUALITY, 101}),
          by_opencv("ppm", ".ppm", CV_8UC3, 256),
          by_opencv("ppm of text", ".ppm", CV_8UC3, 256, {cv::IMWRITE_PXM_BINARY, 0}),
          by_opencv("bmp", ".bmp", CV_8UC3, 256),
          by_opencv("tiff by LZW", ".tiff", CV_8UC3, 64),
          tiff("tiff of 16 bits, strips", {.bits = 16}, 16),
          tiff("tiff of 16 bits, one strip", {.bits = 16}),
          tiff("tiff by LZW, one strip", {}),
          tiff("tiff by LZW, one tile", {}, 0, true),
          tiff("tiff by JPEG, one strip", {.compression = COMPRESSION_JPEG}),
          tiff("tiff by LZMA, one strip", {.compression = COMPRESSION_LZMA})};
}

// Whether a stop would be noticed in time.
bool measure(const Kind& kind, int side) {
  const Bytes bytes = kind.make(side);
  const double begin = test::processor_seconds();
  double last = begin;
  double longest = 0;
  int times = 0;
  const auto pass = [&] {
    const double now = test::processor_seconds();
    longest = std::max(longest, now - last);
    last = now;
  };
  const auto image = decode(bytes, {.max_pixels = ~std::uint64_t{0}}, {{}, [&] {
                                                                         pass();
                                                                         ++times;
                                                                         return false;
                                                                       }});
  pass();
  if (!image) throw std::runtime_error(std::string(kind.name) + ": " + image.error().detail);
  std::printf("%-28s %6.2f s %8d asked %6.2f s longest\n", kind.name, last - begin, times, longest);
  std::fflush(stdout);
  return longest <= 2;
}

int side_of(int argc, char** argv) {
  double megapixels = 40;
  if (argc == 1) return static_cast<int>(std::sqrt(megapixels * 1e6));
  if (argc != 3 || std::string_view(argv[1]) != "--megapixels") throw std::runtime_error(kHelp);
  const std::string_view text = argv[2];
  const auto [end, error] = std::from_chars(text.begin(), text.end(), megapixels);
  if (error != std::errc() || end != text.end() || !(megapixels > 0 && megapixels < 256)) {
    throw std::runtime_error(kHelp);
  }
  return static_cast<int>(std::sqrt(megapixels * 1e6));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    const int side = side_of(argc, argv);
    cv::setNumThreads(1);
    bool good = true;
    for (const Kind& kind : kinds()) good = measure(kind, side) && good;
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
