#include "dedup/features/feature_links.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"

namespace winnow::dedup {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

std::uint32_t distance_of(float cosine) noexcept {
  return static_cast<std::uint32_t>(std::lround(1000 * (1 - double{cosine})));
}

// The vectors of a table's rows.
struct FeaturesOfRows {
  FeaturesOfRows(const FeatureTable& features, const std::vector<SampleId>& ids) : index(features) {
    std::size_t at = 0;
    for (const SampleId id : ids) {
      while (at < features.size() && features.ids[at] < id) ++at;
      const bool has = at < features.size() && features.ids[at] == id;
      number.push_back(has ? static_cast<std::uint32_t>(at) : kNoRow);
    }
  }

  std::uint32_t distance(std::uint32_t a, std::uint32_t b) const noexcept {
    if (number[a] == kNoRow || number[b] == kNoRow) return 0;
    return distance_of(index.cosine(number[a], number[b]));
  }

  FeatureIndex index;
  std::vector<std::uint32_t> number;  // number of each row's vector
};

// Codes that are equal if and only if the vectors are.
CodeColumn codes_of(const std::shared_ptr<const FeaturesOfRows>& features) {
  CodeColumn codes = empty_codes(std::string(kCosine), 1, 128);
  for (std::uint32_t row = 0; row < features->number.size(); ++row) {
    std::uint64_t words[2] = {0, row};
    if (const std::uint32_t number = features->number[row]; number != kNoRow) {
      std::memcpy(words, features->index.hashes()[number].bytes.data(), sizeof(words));
    }
    codes.words.insert(codes.words.end(), words, words + 2);
  }
  codes.between = [features](std::uint32_t a, std::uint32_t b) { return features->distance(a, b); };
  return codes;
}

void find_links(const FeaturesOfRows& features, std::span<const std::uint32_t> rows, double cosine,
                const EdgeSink& sink, const NeighbourOptions& options) {
  std::vector<std::uint32_t> numbers;  // ascend like the rows
  std::vector<std::uint32_t> row_of(features.index.size());
  for (const std::uint32_t row : rows) {
    if (features.number[row] == kNoRow) continue;
    numbers.push_back(features.number[row]);
    row_of[features.number[row]] = row;
  }
  std::vector<Edge> edges;
  find_pairs(
      features.index, numbers, cosine,
      [&](std::span<const CosinePair> pairs) {
        edges.clear();
        for (const CosinePair& pair : pairs) {
          edges.push_back({row_of[pair.a], row_of[pair.b], distance_of(pair.cosine)});
        }
        sink(edges);
      },
      options);
}

}  // namespace

FeatureLinks compare_by(const FeatureTable& features, ColumnSource columns,
                        const NeighbourOptions& options) {
  const auto of_rows = std::make_shared<const FeaturesOfRows>(features, columns({}).ids);
  return {[columns = std::move(columns), codes = codes_of(of_rows)](const ColumnNames& names) {
            const std::string own = "codes:" + codes.hash;
            ColumnNames others = names;
            const bool asked = others.erase(own) > 0;
            Fingerprints table = columns(others);
            if (asked) table.codes.push_back(codes);
            return table;
          },
          [of_rows, options](const CodeColumn&, std::span<const std::uint32_t> rows, int threshold,
                             const EdgeSink& sink) {
            find_links(*of_rows, rows, cosine_of_distance(threshold), sink, options);
          }};
}

int distance_of_cosine(double cosine) {
  const double distance = 1000 * (1 - cosine);
  if (!(cosine > 0 && cosine <= 1) || std::abs(distance - std::round(distance)) > 1e-6) {
    throw UsageError(
        "the smallest cosine of duplicates is above 0, at most 1, in steps of 0.001, for example "
        "0.97");
  }
  return static_cast<int>(std::lround(distance));
}

double cosine_of_distance(int distance) noexcept { return (1000 - distance) / 1000.0; }

}  // namespace winnow::dedup
