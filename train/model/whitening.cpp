#include "train/model/whitening.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "common/error.h"

namespace winnow::train {
namespace {

// A square matrix, row-major.
struct Matrix {
  explicit Matrix(std::size_t rows) : n(rows), elements(rows * rows) {}
  double& at(std::size_t i, std::size_t j) { return elements[i * n + j]; }
  double at(std::size_t i, std::size_t j) const { return elements[i * n + j]; }

  std::size_t n;
  std::vector<double> elements;
};

struct Eigen {
  std::vector<double> values;
  Matrix vectors;  // in columns
};

// Makes element (p,q) of the symmetric `a` zero by a rotation of rows and columns.
void rotate(Matrix& a, Matrix& vectors, std::size_t p, std::size_t q) {
  if (a.at(p, q) == 0) return;
  const double theta = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
  const double t = std::copysign(1 / (std::abs(theta) + std::hypot(theta, 1)), theta);
  const double c = 1 / std::hypot(t, 1);
  const double s = t * c;
  const auto turn = [c, s](double& x, double& y) {
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  };
  for (std::size_t k = 0; k < a.n; ++k) turn(a.at(k, p), a.at(k, q));
  for (std::size_t k = 0; k < a.n; ++k) turn(a.at(p, k), a.at(q, k));
  for (std::size_t k = 0; k < a.n; ++k) turn(vectors.at(k, p), vectors.at(k, q));
  a.at(p, q) = a.at(q, p) = 0;
}

// Jacobi 1846: rotates all pairs in turn. Converges quadratically in the end.
Eigen eigen_of(Matrix a) {
  constexpr int kSweeps = 50;
  Matrix vectors(a.n);
  for (std::size_t i = 0; i < a.n; ++i) vectors.at(i, i) = 1;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < a.n; ++p) {
      for (std::size_t q = p + 1; q < a.n; ++q) rotate(a, vectors, p, q);
    }
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < a.n; ++i) values.push_back(a.at(i, i));
  return {std::move(values), std::move(vectors)};
}

// Second moments of the normalised pixels, (x / 255 - mean) / stddev.
Matrix second_moments(const PatchSums& patches, const WhiteningOptions& options) {
  constexpr double kWhite = 255;
  const std::size_t pixels = patches.size() / static_cast<std::size_t>(patches.channels());
  const auto mean = [&](std::size_t i) { return kWhite * double{options.mean[i / pixels]}; };
  const auto deviation = [&](std::size_t i) { return kWhite * double{options.stddev[i / pixels]}; };
  Matrix moments(patches.size());
  for (std::size_t i = 0; i < patches.size(); ++i) {
    for (std::size_t j = 0; j < patches.size(); ++j) {
      const double central = patches.mean(i, j) - mean(i) * patches.mean(j) -
                             mean(j) * patches.mean(i) + mean(i) * mean(j);
      moments.at(i, j) = central / (deviation(i) * deviation(j));
    }
  }
  return moments;
}

}  // namespace

PatchSums::PatchSums(int channels, int side_px)
    : channels_(channels),
      side_px_(side_px),
      sums_(static_cast<std::size_t>(channels * side_px * side_px)),
      products_(sums_.size() * sums_.size()) {}

void PatchSums::add(std::span<const std::uint8_t> pixels, int height_px, int width_px) {
  std::vector<std::uint64_t> patch(size());
  for (int y = 0; y + side_px_ <= height_px; ++y) {
    for (int x = 0; x + side_px_ <= width_px; ++x) {
      auto element = patch.begin();
      for (int c = 0; c < channels_; ++c) {
        for (int row = y; row < y + side_px_; ++row) {
          for (int column = x; column < x + side_px_; ++column) {
            *element++ =
                pixels[static_cast<std::size_t>((row * width_px + column) * channels_ + c)];
          }
        }
      }
      for (std::size_t i = 0; i < size(); ++i) {
        sums_[i] += patch[i];
        for (std::size_t j = 0; j <= i; ++j) products_[i * size() + j] += patch[i] * patch[j];
      }
      ++count_;
    }
  }
}

double PatchSums::mean(std::size_t i) const {
  return static_cast<double>(sums_[i]) / static_cast<double>(count_);
}

double PatchSums::mean(std::size_t i, std::size_t j) const {
  const std::uint64_t product = products_[std::max(i, j) * size() + std::min(i, j)];
  return static_cast<double>(product) / static_cast<double>(count_);
}

std::vector<float> whitening_filters(const PatchSums& patches, const WhiteningOptions& options) {
  if (patches.count() == 0) throw Error("there are no patches to whiten");
  const Eigen eigen = eigen_of(second_moments(patches, options));
  const std::size_t d = patches.size();
  std::vector<std::size_t> order(d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t k) { return eigen.values[k]; });
  std::vector<float> filters;
  for (const std::size_t k : order) {
    double largest = 0;
    for (std::size_t i = 0; i < d; ++i) {
      const double element = eigen.vectors.at(i, k);
      if (std::abs(element) > std::abs(largest)) largest = element;
    }
    const double length =
        std::copysign(std::sqrt(std::max(0.0, eigen.values[k]) + options.epsilon), largest);
    for (std::size_t i = 0; i < d; ++i) {
      filters.push_back(static_cast<float>(eigen.vectors.at(i, k) / length));
    }
  }
  std::ranges::transform(std::vector(filters), std::back_inserter(filters), std::negate{});
  return filters;
}

}  // namespace winnow::train
