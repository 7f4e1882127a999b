#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "train/backend/cudnn/engine_choice.h"
#include "train/backend/cudnn/matmul_layout.h"

namespace winnow::train::cudnn::products_test {

using Notes = std::vector<EngineNote>;

struct Kind {
  Element type;
  bool tf32;
  Notes refused;
};
const Kind kKinds[] = {
    {Element::kF32,
     false,
     {EngineNote::kTensorCore, EngineNote::kDownConverts, EngineNote::kReducedReduction,
      EngineNote::kFft, EngineNote::kWinograd}},
    {Element::kF32,
     true,
     {EngineNote::kDownConverts, EngineNote::kReducedReduction, EngineNote::kFft,
      EngineNote::kWinograd}},
    {Element::kBf16,
     false,
     {EngineNote::kReducedReduction, EngineNote::kFft, EngineNote::kWinograd}},
    {Element::kF16,
     false,
     {EngineNote::kReducedReduction, EngineNote::kFft, EngineNote::kWinograd}},
};
const Notes kAll{EngineNote::kTensorCore,       EngineNote::kDownConverts,
                 EngineNote::kReducedReduction, EngineNote::kFft,
                 EngineNote::kNondeterministic, EngineNote::kWinograd};

TEST(EngineChoice, EnginesWithoutNotesMayComputeAnything) {
  for (const Kind& kind : kKinds) {
    ConvolutionDescription d;
    d.type = kind.type;
    d.tf32 = kind.tf32;
    d.deterministic = true;
    EXPECT_TRUE(may_compute(d, {}));
  }
}

TEST(EngineChoice, RefusesLessPrecisionThanAskedFor) {
  for (const Kind& kind : kKinds) {
    ConvolutionDescription d;
    d.type = kind.type;
    d.tf32 = kind.tf32;
    for (const EngineNote note : kAll) {
      const bool is_refused = testing::Value(kind.refused, testing::Contains(note));
      EXPECT_EQ(may_compute(d, Notes{note}), !is_refused)
          << to_string(d) << ", note " << static_cast<int>(note);
    }
  }
}

TEST(EngineChoice, OneRefusedNoteOfSeveralIsEnough) {
  ConvolutionDescription d;
  d.type = Element::kBf16;
  EXPECT_TRUE(may_compute(d, Notes{EngineNote::kTensorCore, EngineNote::kNondeterministic}));
  EXPECT_FALSE(may_compute(d, Notes{EngineNote::kTensorCore, EngineNote::kWinograd}));
  d.deterministic = true;
  EXPECT_FALSE(may_compute(d, Notes{EngineNote::kTensorCore, EngineNote::kNondeterministic}));
}

TEST(EngineChoice, ChannelsLieNextToEachOther) {
  const TensorLayout layout = nhwc(2, 3, 5, 7);
  EXPECT_THAT(layout.extents, testing::ElementsAre(2, 3, 5, 7));
  EXPECT_THAT(layout.strides, testing::ElementsAre(3 * 5 * 7, 1, 3 * 7, 3));
}

// The definition of BLAS, element by element.
double element(const std::vector<double>& data, const ColumnMajor& matrix, bool is_transposed,
               std::int64_t row, std::int64_t column) {
  if (is_transposed) std::swap(row, column);
  EXPECT_LT(row, matrix.rows);
  EXPECT_LT(column, matrix.columns);
  return data.at(static_cast<std::size_t>(column * matrix.leading + row));
}

std::vector<double> gemm(const ColumnMajorProduct& p, const std::vector<double>& first,
                         const std::vector<double>& second) {
  const std::int64_t inner = p.transpose_first ? p.first.rows : p.first.columns;
  EXPECT_EQ(inner, p.transpose_second ? p.second.columns : p.second.rows);
  std::vector<double> result(static_cast<std::size_t>(p.result.leading * p.result.columns));
  for (std::int64_t i = 0; i < p.result.rows; ++i) {
    for (std::int64_t j = 0; j < p.result.columns; ++j) {
      double& sum = result.at(static_cast<std::size_t>(j * p.result.leading + i));
      for (std::int64_t l = 0; l < inner; ++l) {
        sum += element(first, p.first, p.transpose_first, i, l) *
               element(second, p.second, p.transpose_second, l, j);
      }
    }
  }
  return result;
}

std::vector<double> row_major_product(const MatmulDescription& d, const std::vector<double>& a,
                                      const std::vector<double>& b) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < d.m; ++i) {
    for (std::int64_t j = 0; j < d.n; ++j) {
      double sum = 0;
      for (std::int64_t l = 0; l < d.k; ++l) {
        sum += a.at(static_cast<std::size_t>(d.transpose_a ? l * d.m + i : i * d.k + l)) *
               b.at(static_cast<std::size_t>(d.transpose_b ? j * d.k + l : l * d.n + j));
      }
      result.push_back(sum);
    }
  }
  return result;
}

std::vector<double> counted(std::int64_t count, double first) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(first + static_cast<double>(i * i));
  return numbers;
}

TEST(MatmulLayout, GivesBlasTheSameProduct) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      MatmulDescription d;
      d.m = 3, d.n = 4, d.k = 5;
      d.transpose_a = transpose_a;
      d.transpose_b = transpose_b;
      const auto a = counted(d.m * d.k, 1);
      const auto b = counted(d.k * d.n, -7);
      EXPECT_EQ(gemm(as_column_major(d), b, a), row_major_product(d, a, b)) << to_string(d);
    }
  }
}

}  // namespace winnow::train::cudnn::products_test
