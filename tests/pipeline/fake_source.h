#pragma once

#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "datasets/source.h"
#include "tests/common/opencv_codecs.h"

namespace winnow {

// A source in memory. `on_read` may replace the answer of any read.
class FakeSource : public datasets::Source {
 public:
  using Answer = Expected<datasets::Payload, datasets::ReadError>;

  void add(std::string name, datasets::Payload payload, Split split = Split::kTrain,
           std::vector<std::int32_t> labels = {}, std::string group = {}) {
    const auto* bytes = std::get_if<Bytes>(&payload);
    const std::uint64_t size = bytes ? bytes->size() : std::get<Image>(payload).pixels.size();
    list({std::move(name), split, std::move(labels), std::move(group), size});
    answers_.emplace_back(std::move(payload));
  }
  void add_error(std::string name, datasets::ReadError error, Split split = Split::kTrain) {
    list({std::move(name), split, {}, {}, 0});
    answers_.emplace_back(std::move(error));
  }
  template <class Change>
  void change_entries(const Change& change) {
    for (datasets::Entry& entry : rows_) change(entry);
    entries_ = datasets::Listing(rows_);
  }
  std::vector<std::string>& mutable_class_names() { return class_names_; }

  std::string_view format() const noexcept override { return "fake"; }
  const datasets::Listing& entries() const noexcept override { return entries_; }
  std::span<const std::string> class_names() const noexcept override { return class_names_; }
  std::string description() const override { return "fake"; }
  Answer read(std::size_t position) const override {
    if (on_read) {
      if (auto answer = on_read(position)) return *answer;
    }
    return answers_[position];
  }

  std::function<std::optional<Answer>(std::size_t)> on_read;  // called by many threads

 private:
  void list(datasets::Entry entry) {
    entries_.push_back(entry);
    rows_.push_back(std::move(entry));
  }

  std::vector<datasets::Entry> rows_;
  datasets::Listing entries_;
  std::vector<Answer> answers_;
  std::vector<std::string> class_names_;
};

// Smooth shapes with some noise, which compress like a photo.
inline Image make_picture(std::mt19937_64& random, int height, int width, int channels) {
  Image image(height, width, channels);
  const auto a = static_cast<int>(random() % 7 + 1);
  const auto b = static_cast<int>(random() % 7 + 1);
  const auto phase = static_cast<int>(random() % 256);
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < channels; ++c) {
        const int value = (a * x + b * y + phase + 40 * c) % 256;
        image.pixels[at++] = static_cast<std::uint8_t>((value < 128 ? value : 255 - value) +
                                                       static_cast<int>(random() % 16));
      }
    }
  }
  return image;
}

// Encodes with OpenCV. `format` is a file name extension such as ".jpg" or ".png".
inline Bytes encode_picture(const Image& image, const std::string& format) {
  cv::Mat matrix(image.height_px, image.width_px, image.channels == 1 ? CV_8UC1 : CV_8UC3);
  for (int y = 0; y < image.height_px; ++y) {
    for (int x = 0; x < image.width_px; ++x) {
      const std::uint8_t* from = image.view().row(y) + x * image.channels;
      std::uint8_t* to = matrix.ptr(y, x);
      for (int c = 0; c < image.channels; ++c) to[image.channels - 1 - c] = from[c];  // BGR
    }
  }
  std::vector<std::uint8_t> encoded;
  opencv_encode(format, matrix, encoded);
  Bytes bytes(encoded.size());
  std::memcpy(bytes.data(), encoded.data(), encoded.size());
  return bytes;
}

}  // namespace winnow
