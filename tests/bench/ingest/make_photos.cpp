// Makes JPEGs like those of phones: 12 megapixels, about 4 MB, detail at every scale and sensor
// noise. No photo shows anything, but decoding one costs as much as a real photo.
//
//   bench_photos FOLDER COUNT [DISTINCT]
//
// There are DISTINCT different pictures (default 50). The others are copies with their own comment,
// so no two files are equal. Existing files are kept.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 4000;
constexpr int kHeight = 3000;

// Random values on a grid, interpolated between.
class Octave {
 public:
  Octave(int cell, float amplitude, std::mt19937& random)
      : cell_(cell), columns_(kWidth / cell + 2), amplitude_(amplitude) {
    std::uniform_real_distribution<float> value(-1, 1);
    grid_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(kHeight / cell + 2));
    for (float& v : grid_) v = value(random);
  }

  void add_row(int y, std::vector<float>& row) const {
    const float fy = static_cast<float>(y % cell_) / static_cast<float>(cell_);
    const float* top = &grid_[static_cast<std::size_t>(y / cell_ * columns_)];
    const float* low = top + columns_;
    for (int x = 0; x < kWidth; ++x) {
      const int column = x / cell_;
      const float fx = static_cast<float>(x % cell_) / static_cast<float>(cell_);
      const float left = top[column] + fy * (low[column] - top[column]);
      const float right = top[column + 1] + fy * (low[column + 1] - top[column + 1]);
      row[static_cast<std::size_t>(x)] += amplitude_ * (left + fx * (right - left));
    }
  }

 private:
  int cell_;
  int columns_;
  float amplitude_;
  std::vector<float> grid_;
};

std::vector<std::uint8_t> make_photo(unsigned number) {
  std::mt19937 random(number);
  std::vector<Octave> light;
  std::vector<Octave> hue;
  for (int cell = 2048; cell >= 2; cell /= 2) {
    light.emplace_back(cell, 70.0F * std::pow(static_cast<float>(cell) / 2048.0F, 0.42F), random);
    if (cell >= 16)
      hue.emplace_back(cell, 25.0F * std::sqrt(static_cast<float>(cell) / 2048.0F), random);
  }
  cv::Mat photo(kHeight, kWidth, CV_8UC3);
  std::vector<float> y_row(kWidth);
  std::vector<float> hue_row(kWidth);
  std::uint32_t noise = number + 1;
  for (int y = 0; y < kHeight; ++y) {
    std::fill(y_row.begin(), y_row.end(), 120.0F);
    std::fill(hue_row.begin(), hue_row.end(), 0.0F);
    for (const Octave& octave : light) octave.add_row(y, y_row);
    for (const Octave& octave : hue) octave.add_row(y, hue_row);
    std::uint8_t* to = photo.ptr<std::uint8_t>(y);
    for (std::size_t x = 0; x < y_row.size(); ++x) {
      for (int c = 0; c < 3; ++c) {
        noise = noise * 1664525 + 1013904223;
        const float grain = static_cast<float>(static_cast<int>(noise >> 28) - 8);
        const float value = y_row[x] + static_cast<float>(c - 1) * hue_row[x] + grain;
        *to++ = static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
      }
    }
  }
  std::vector<std::uint8_t> jpeg;
  cv::imencode(".jpg", photo, jpeg, {cv::IMWRITE_JPEG_QUALITY, 95});
  return jpeg;
}

fs::path file_of(const fs::path& folder, unsigned number) {
  return folder / ("photo" + std::to_string(100'000 + number).substr(1) + ".jpg");
}

// `jpeg` with a comment behind its first marker.
void write_photo(const fs::path& path, const std::vector<std::uint8_t>& jpeg) {
  const std::string name = path.filename().string();
  const std::string comment =
      std::string("\xff\xfe") + '\0' + static_cast<char>(2 + name.size()) + name;
  const char* bytes = reinterpret_cast<const char*>(jpeg.data());
  const fs::path temporary = path.string() + ".part";
  std::ofstream(temporary, std::ios::binary)
      .write(bytes, 2)
      .write(comment.data(), static_cast<std::streamsize>(comment.size()))
      .write(bytes + 2, static_cast<std::streamsize>(jpeg.size() - 2));
  fs::rename(temporary, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "bench_photos FOLDER COUNT [DISTINCT]\n");
    return 2;
  }
  const fs::path folder = argv[1];
  const auto count = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const auto distinct = argc > 3 ? static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)) : 50U;
  fs::create_directories(folder);
  std::atomic<unsigned> next{0};
  const auto work = [&] {
    for (unsigned picture = next++; picture < std::min(count, distinct); picture = next++) {
      std::vector<std::uint8_t> jpeg;
      for (unsigned number = picture; number < count; number += distinct) {
        const fs::path path = file_of(folder, number);
        if (fs::exists(path)) continue;
        if (jpeg.empty()) jpeg = make_photo(picture);
        write_photo(path, jpeg);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
}
