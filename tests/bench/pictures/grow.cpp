// Times the comparison of many synthetic pictures; see --help.

#include <oneapi/tbb/global_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/rng.h"
#include "dedup/verify/calibrate.h"
#include "dedup/verify/verify.h"

namespace {

using namespace winnow;
using namespace winnow::dedup;

constexpr const char* kHelp =
    "bench_pictures [IMAGES [THREADS]]\n\n"
    "Makes up gray thumbnails of 64x48 pixels, of which every hundredth is a part of another one,\n"
    "some of them in a mirror, and finds those as `dedup --verify` does. Nothing is read or\n"
    "written: pictures are made when they are asked for, in time that counts. Tells, as JSON, "
    "what\n"
    "was looked at, planted copies that were found, other pairs, seconds, the peak of memory; and\n"
    "the seconds of a search of as many 64-bit codes within 6 bits.\n";

constexpr int kWidth = 64;
constexpr int kHeight = 48;
constexpr std::uint32_t kCopyEvery = 100;

class Draw {
 public:
  Draw(std::uint32_t row, std::uint32_t use) : rng_(1, use, row, RandomUse::kTest) {}
  float between(float least, float most) {
    return least + (most - least) * static_cast<float>(rng_.next_u32()) * 0x1p-32F;
  }
  std::uint32_t below(std::uint32_t n) { return rng_.below(n); }

 private:
  CounterRng rng_;
};

// Noise of five octaves. Its landmarks are as seldom similar as those of photos.
Plane scene(std::uint32_t row) {
  Draw draw(row, 1);
  Plane plane{kWidth, kHeight, std::vector<float>(kWidth * kHeight, 128.0F)};
  for (const int cell : {32, 16, 8, 4, 2}) {
    const int across = kWidth / cell + 2;
    Plane lattice{across, kHeight / cell + 2, {}};
    for (int i = 0; i < across * lattice.height; ++i) lattice.values.push_back(draw.between(-1, 1));
    const float height = 12.0F * std::sqrt(static_cast<float>(cell) / 8);
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        plane.row(y)[x] +=
            height * sample(lattice, static_cast<float>(x) / static_cast<float>(cell),
                            static_cast<float>(y) / static_cast<float>(cell));
      }
    }
  }
  return plane;
}

// The row of which this row shows a part; itself if none.
std::uint32_t original_of(std::uint32_t row) {
  if (row % kCopyEvery != kCopyEvery - 1) return row;
  return Draw(row, 2).below(row / kCopyEvery + 1) * kCopyEvery;
}

Image picture(std::uint32_t row) {
  const std::uint32_t original = original_of(row);
  const Plane plane = scene(original);
  Image image(kHeight, kWidth, 1);
  Draw draw(row, 3);
  const bool is_copy = original != row;
  const float share = is_copy ? draw.between(0.7F, 1) : 1;
  const float left = draw.between(0, kWidth * (1 - share));
  const float top = draw.between(0, kHeight * (1 - share));
  const bool is_mirrored = is_copy && draw.below(2) == 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const auto from_x = static_cast<float>(is_mirrored ? kWidth - 1 - x : x);
      const float value = sample(plane, left + share * from_x, top + share * static_cast<float>(y));
      image.pixels[static_cast<std::size_t>(y * kWidth + x)] =
          static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0F, 255.0F)));
    }
  }
  return image;
}

double seconds_of(const auto& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

double search_seconds(std::uint32_t count, std::span<const std::uint32_t> rows) {
  CodeColumn codes{"phash", 1, 64, {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    CounterRng rng(2, 0, i, RandomUse::kTest);
    codes.words.push_back(rng.next_u64());
  }
  std::uint64_t found = 0;
  const EdgeSink sink = [&](std::span<const Edge> edges) { found += edges.size(); };
  return seconds_of([&] { find_edges(codes, rows, 6, sink); });
}

int run(std::uint32_t count) {
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const double making = seconds_of([] {
    for (std::uint32_t row = 0; row < 500; ++row) picture(row);
  });
  Calibration calibration;
  Verification found;
  const double calibrating = seconds_of([&] { calibration = calibrate(rows, picture); });
  const double verifying = seconds_of(
      [&] { found = verify(rows, picture, {}, calibration.model, {.least_probability = 0.9}); });
  const double peak = peak_mb();
  std::uint64_t copies = 0;
  std::uint64_t others = 0;
  for (const VerifiedPair& pair : found.pairs) {
    const bool is_planted = original_of(pair.row_a) == original_of(pair.row_b);
    copies += is_planted && (original_of(pair.row_b) == pair.row_a) ? 1 : 0;
    others += is_planted ? 0 : 1;
  }
  std::printf(
      "{\"images\": %u, \"landmarks\": %llu, \"radius\": %d, \"candidates\": %llu, "
      "\"registered\": %llu, \"verified\": %llu, \"planted\": %u, \"planted_found\": %llu, "
      "\"other_pairs\": %llu, \"seconds\": %.2f, \"calibrate_seconds\": %.2f, \"peak_mb\": %.0f, "
      "\"make_ms\": %.4f, \"codes_seconds\": %.3f}\n",
      count, static_cast<unsigned long long>(found.counts.landmarks), found.counts.radius,
      static_cast<unsigned long long>(found.counts.candidates),
      static_cast<unsigned long long>(found.counts.registered),
      static_cast<unsigned long long>(found.counts.verified), count / kCopyEvery,
      static_cast<unsigned long long>(copies), static_cast<unsigned long long>(others),
      calibrating + verifying, calibrating, peak, making * 2, search_seconds(count, rows));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (!args.empty() && args[0].starts_with("-")) {
      std::fputs(kHelp, args[0] == "--help" ? stdout : stderr);
      return args[0] == "--help" ? 0 : 2;
    }
    const auto number = [&](std::size_t at, int otherwise) {
      return args.size() > at ? std::stoi(args[at]) : otherwise;
    };
    const auto threads = static_cast<std::size_t>(number(1, 2));
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return run(static_cast<std::uint32_t>(number(0, 10'000)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_pictures: %s\n", error.what());
    return 1;
  }
}
