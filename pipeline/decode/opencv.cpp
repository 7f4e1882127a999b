#include "pipeline/decode/opencv.h"

#include <new>
#include <opencv2/imgcodecs.hpp>

namespace winnow::pipeline {
namespace {

std::uint8_t to_8_bits(std::uint8_t sample) { return sample; }
std::uint8_t to_8_bits(std::uint16_t sample) { return static_cast<std::uint8_t>(sample >> 8); }

// OpenCV's order is gray; B, G, R; or B, G, R, A.
template <class Sample>
Image to_image(const cv::Mat& mat, const Header& header) {
  const int from_channels = mat.channels();
  Image image(mat.rows, mat.cols, from_channels < 3 || header.gray ? 1 : 3);
  std::uint8_t* to = image.pixels.data();
  for (int y = 0; y < mat.rows; ++y) {
    const auto* from = mat.ptr<Sample>(y);
    for (int x = 0; x < mat.cols; ++x, from += from_channels) {
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

DecodeError corrupt(std::string detail) { return {DecodeError::Kind::kCorrupt, std::move(detail)}; }

}  // namespace

Expected<Image, DecodeError> decode_opencv(BytesView encoded, const Header& header) {
  // libtiff would multiply alpha into the colours; told that it is multiplied in, it leaves them.
  Bytes edited;
  if (header.straight_alpha_at != 0) {
    edited.assign(encoded.begin(), encoded.end());
    const bool big_endian = edited[0] == std::byte{'M'};
    edited[header.straight_alpha_at + (big_endian ? 1 : 0)] = std::byte{1};
    encoded = edited;
  }
  // OpenCV only reads the bytes, but a Mat has no const form.
  const cv::Mat bytes(1, static_cast<int>(encoded.size()), CV_8UC1,
                      const_cast<std::byte*>(encoded.data()));
  cv::Mat mat;
  try {
    mat = cv::imdecode(bytes, cv::IMREAD_UNCHANGED | cv::IMREAD_IGNORE_ORIENTATION);
  } catch (const cv::Exception& error) {
    if (error.code == cv::Error::StsNoMem) throw std::bad_alloc();
    return corrupt("OpenCV: " + error.err);
  }
  if (mat.empty()) return corrupt("OpenCV cannot decode it");
  const bool same_size = static_cast<std::uint64_t>(mat.rows) == header.height_px &&
                         static_cast<std::uint64_t>(mat.cols) == header.width_px;
  if (!same_size) return corrupt("its size is not what its header says");
  if (mat.depth() == CV_8U) return to_image<std::uint8_t>(mat, header);
  if (mat.depth() == CV_16U) return to_image<std::uint16_t>(mat, header);
  return DecodeError{DecodeError::Kind::kUnsupported,
                     "has samples that are not of 8 or 16 bits; convert it to 8 bits"};
}

}  // namespace winnow::pipeline
