#include "pipeline/decode/encode.h"

#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <vector>

#include "common/error.h"

namespace winnow::pipeline {

Bytes encode_png(const ImageView& image) {
  cv::Mat matrix(image.height_px, image.width_px, image.channels == 1 ? CV_8UC1 : CV_8UC3);
  for (int y = 0; y < image.height_px; ++y) {
    const std::uint8_t* from = image.row(y);
    auto* to = matrix.ptr<std::uint8_t>(y);
    const auto row_bytes = static_cast<std::size_t>(image.width_px) * matrix.elemSize();
    if (image.channels == 1) {
      std::memcpy(to, from, row_bytes);
      continue;
    }
    for (std::size_t at = 0; at < row_bytes; at += 3) {  // OpenCV's order is B, G, R
      to[at] = from[at + 2];
      to[at + 1] = from[at + 1];
      to[at + 2] = from[at];
    }
  }
  std::vector<std::uint8_t> encoded;
  bool done = false;
  try {
    done = cv::imencode(".png", matrix, encoded);
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
  }
  if (!done) {
    throw Error("an image of " + std::to_string(image.width_px) + " x " +
                std::to_string(image.height_px) + " px cannot be encoded as PNG");
  }
  const BytesView bytes = as_bytes(encoded);
  return {bytes.begin(), bytes.end()};
}

}  // namespace winnow::pipeline
