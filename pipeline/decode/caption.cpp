#include "pipeline/decode/caption.h"

#include <opencv2/imgproc.hpp>
#include <string>

namespace winnow::pipeline {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr double kScale = 0.33;

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // continuation byte of UTF-8
    out += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  return out;
}

}  // namespace

int caption_width_px(std::string_view text) {
  int below = 0;
  return cv::getTextSize(plain(text), kFont, kScale, 1, &below).width;
}

void write_caption(Image& image, int x, int y, std::string_view text) {
  cv::Mat pixels(image.height_px, image.width_px, CV_8UC3, image.pixels.data());
  constexpr int kBaseline = 9;
  cv::putText(pixels, plain(text), {x, y + kBaseline}, kFont, kScale, {0, 0, 0}, 1, cv::LINE_AA);
}

}  // namespace winnow::pipeline
