#include "dedup/features/whiten.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr std::size_t kMostRows = 65536;  // used for mean and covariance
constexpr double kRidge = 1e-6;           // share of the mean variance that is added to each
constexpr std::size_t kRowsOfMatrix = 8;  // computed at once
constexpr std::size_t kRowsAtOnce = 4096;

// Lower triangle of a symmetric or triangular matrix, row after row.
struct Triangle {
  explicit Triangle(std::size_t size) : numbers(size * (size + 1) / 2) {}
  double* row(std::size_t i) { return numbers.data() + i * (i + 1) / 2; }
  const double* row(std::size_t i) const { return numbers.data() + i * (i + 1) / 2; }
  std::vector<double> numbers;
};

// The vectors of `count` rows, `step` rows apart.
std::vector<float> read_rows(const FeatureTable& table, std::size_t begin, std::size_t count,
                             std::size_t step) {
  const std::size_t dimensions = table.dimensions;
  std::vector<float> rows(count * dimensions);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    table.read(begin + i * step, std::span(rows).subspan(i * dimensions, dimensions));
  });
  return rows;
}

// Subtracts the mean from the rows, and returns it.
std::vector<double> take_mean(std::vector<float>& rows, std::size_t dimensions) {
  const std::size_t count = rows.size() / dimensions;
  std::vector<double> mean(dimensions);
  for (std::size_t i = 0; i < rows.size(); ++i) mean[i % dimensions] += double{rows[i]};
  for (double& number : mean) number /= static_cast<double>(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t row) {
    float* numbers = rows.data() + row * dimensions;
    for (std::size_t i = 0; i < dimensions; ++i) {
      numbers[i] = static_cast<float>(double{numbers[i]} - mean[i]);
    }
  });
  return mean;
}

Triangle covariance(const std::vector<float>& rows, std::size_t dimensions) {
  Triangle sums(dimensions);
  const std::size_t blocks = (dimensions + kRowsOfMatrix - 1) / kRowsOfMatrix;
  tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(dimensions, (block + 1) * kRowsOfMatrix);
    for (std::size_t at = 0; at < rows.size(); at += dimensions) {
      const float* x = rows.data() + at;
      for (std::size_t i = block * kRowsOfMatrix; i < end; ++i) {
        double* row = sums.row(i);
        const double own = double{x[i]};
        for (std::size_t j = 0; j <= i; ++j) row[j] += own * double{x[j]};
      }
    }
  });
  const auto count = static_cast<double>(rows.size() / dimensions);
  for (double& sum : sums.numbers) sum /= count;
  return sums;
}

// In-place Cholesky factor L of the matrix plus a ridge: L L^T.
void factorise(Triangle& matrix, std::size_t size) {
  double variances = 0;
  for (std::size_t i = 0; i < size; ++i) variances += matrix.row(i)[i];
  if (!(variances > 0)) throw UsageError("all vectors are equal, so they cannot be whitened");
  const double ridge = kRidge * variances / static_cast<double>(size);
  for (std::size_t i = 0; i < size; ++i) {
    double* row = matrix.row(i);
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = matrix.row(j);
      double sum = row[j] + (i == j ? ridge : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      row[j] = i == j ? std::sqrt(std::max(sum, ridge)) : sum / other[j];
    }
  }
}

// Replaces x by L^-1 (x - mean).
void solve_by_factors(const Triangle& factor, const std::vector<double>& mean, std::span<float> x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double* row = factor.row(i);
    double sum = double{x[i]} - mean[i];
    for (std::size_t k = 0; k < i; ++k) sum -= row[k] * y[k];
    y[i] = sum / row[i];
  }
  std::ranges::transform(y, x.begin(), [](double number) { return static_cast<float>(number); });
}

void check(const FeatureTable& table) {
  if (table.dimensions > kMostWhitened) {
    throw UsageError("vectors of " + std::to_string(table.dimensions) +
                     " dimensions are too long to whiten, the limit is " +
                     std::to_string(kMostWhitened) + "; leave out --whiten");
  }
  if (table.size() < std::size_t{2} * table.dimensions) {
    throw UsageError(
        std::to_string(table.size()) + " images are too few to whiten vectors of " +
        std::to_string(table.dimensions) +
        " dimensions; use at least twice as many images as dimensions, or leave out --whiten");
  }
}

}  // namespace

FeatureTable whitened(const FeatureTable& table) {
  check(table);
  const std::size_t dimensions = table.dimensions;
  const std::size_t step = (table.size() + kMostRows - 1) / kMostRows;
  std::vector<float> sample = read_rows(table, 0, (table.size() + step - 1) / step, step);
  const std::vector<double> mean = take_mean(sample, dimensions);
  Triangle factor = covariance(sample, dimensions);
  factorise(factor, dimensions);

  FeatureTable result = empty_features(table.type(), dimensions);
  result.name = table.name;
  result.source = table.source;
  result.cache_digest = table.cache_digest;
  for (std::size_t begin = 0; begin < table.size(); begin += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, table.size() - begin);
    std::vector<float> rows = read_rows(table, begin, count, 1);
    const auto row = [&](std::size_t i) {
      return std::span(rows).subspan(i * dimensions, dimensions);
    };
    tbb::parallel_for(std::size_t{0}, count,
                      [&](std::size_t i) { solve_by_factors(factor, mean, row(i)); });
    for (std::size_t i = 0; i < count; ++i) {
      if (why_no_feature(row(i)).empty()) append_feature(result, table.ids[begin + i], row(i));
    }
  }
  return result;
}

}  // namespace winnow::dedup
