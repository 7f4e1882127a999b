// Feature tables, neighbours by features, and outliers, compared with linear scans in float64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

#include "common/error.h"
#include "common/file.h"
#include "common/rng.h"
#include "dedup/cluster/cluster.h"
#include "dedup/features/feature_links.h"
#include "dedup/features/feature_table.h"
#include "dedup/features/neighbours.h"
#include "dedup/features/outliers.h"
#include "dedup/lists/pairs.h"
#include "dedup/lists/report.h"
#include "places.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::features_test {

using Vector = std::vector<float>;

double normal(CounterRng& rng) {
  const double length = std::sqrt(-2 * std::log1p(-rng.uniform()));
  return length * std::cos(6.283185307179586 * rng.uniform());
}

FeatureTable table_of(const std::vector<Vector>& vectors, FeatureType type = FeatureType::kF16) {
  FeatureTable table = empty_features(type, vectors.front().size());
  table.name = "made";
  table.source = R"({"npy":"made.npy"})";
  table.cache_digest = "0123456789abcdef";
  SampleId id = 3;
  for (const Vector& vector : vectors) append_feature(table, id += 2, vector);
  return table;
}

// Vectors like those of nets: none negative, in clusters, some changed a little from another or not
// at all.
std::vector<Vector> clustered(std::size_t rows, std::size_t dimensions, std::uint64_t seed) {
  std::vector<Vector> vectors;
  for (std::size_t row = 0; row < rows; ++row) {
    CounterRng rng(seed, 0, row, RandomUse::kTest);
    CounterRng of_cluster(seed, 1, row % 7, RandomUse::kTest);
    const auto from = row / 2;
    const double change = row % 11 == 0 ? 0.0 : 0.6 * rng.uniform();
    Vector vector(dimensions);
    for (std::size_t i = 0; i < dimensions; ++i) {
      const double middle = normal(of_cluster);
      const double own = row % 3 == 0 && row > 0
                             ? double{vectors[from][i]} * (1 + change * normal(rng))
                             : std::max(0.0, 0.4 * middle + normal(rng));
      vector[i] = static_cast<float>(own);
    }
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

double exact_cosine(const FeatureTable& table, std::size_t a, std::size_t b) {
  Vector x(table.dimensions);
  Vector y(table.dimensions);
  table.read(a, x);
  table.read(b, y);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += double{x[i]} * double{x[i]};
    yy += double{y[i]} * double{y[i]};
    xy += double{x[i]} * double{y[i]};
  }
  return xy / std::sqrt(xx * yy);
}

struct Share {
  double found = 0;
  double of = 0;
  double value() const { return of == 0 ? 1 : found / of; }
};

TEST(FeatureTable, KeepsVectorsToItsPrecision) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kI8}) {
    for (const float size : {1e-30F, 1e-3F, 1.0F, 3e4F, 1e6F, 3e38F}) {
      std::vector<Vector> vectors = clustered(20, 33, 1);
      for (Vector& vector : vectors) {
        const float largest = *std::ranges::max_element(vector);
        for (float& value : vector) value *= size / largest;
      }
      const FeatureTable table = table_of(vectors, type);
      check_features(table, "it");
      Vector read(33);
      for (std::size_t row = 0; row < vectors.size(); ++row) {
        table.read(row, read);
        for (std::size_t i = 0; i < read.size(); ++i) {
          const double off = std::abs(double{read[i]} - double{vectors[row][i]});
          EXPECT_LE(off / double{size}, type == FeatureType::kF16 ? 0x1p-11 : 0.501 / 127);
        }
      }
    }
  }
}

TEST(FeatureTable, KeepsHalvesAsTheyAre) {
  Vector halves;
  for (int i = -200; i <= 200; ++i) halves.push_back(static_cast<float>(i) / 64);
  const FeatureTable table = table_of({halves});
  Vector read(halves.size());
  table.read(0, read);
  EXPECT_EQ(read, halves);
}

TEST(FeatureTable, ComesBackFromItsFile) {
  const TemporaryFolder folder;
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kI8}) {
    const FeatureTable table = table_of(clustered(31, 12, 2), type);
    const Bytes bytes = serialize(table);
    EXPECT_EQ(parse_features(bytes, "it"), table);
    const auto path = folder / "table";
    write_features(path, table);
    EXPECT_EQ(read_features(InputFile(path)), table);
  }
}

TEST(FeatureTable, SaysWhyAVectorCannotBeARow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(why_no_feature(Vector{0, -1e-30F}), "");
  EXPECT_EQ(why_no_feature(Vector{1, nan}), "contains NaN or infinity");
  EXPECT_EQ(why_no_feature(Vector{-infinity, 1}), "contains NaN or infinity");
  EXPECT_EQ(why_no_feature(Vector{0, 0}), "is all zeros and has no direction to compare");
  EXPECT_EQ(why_no_feature(Vector{0, 1e-40F}),
            "is almost all zeros and has no direction to compare");
  EXPECT_EQ(why_no_feature(Vector{3.4e38F, 0}), "");
  EXPECT_EQ(why_no_feature(Vector{0, -std::numeric_limits<float>::max()}),
            "contains a number beyond 3.4e38, which is too large");
}

TEST(FeatureTable, SaysWhoseDimensionsAreTooManyOrNone) {
  for (const std::uint64_t dimensions :
       {std::uint64_t{0}, std::uint64_t{65537}, ~std::uint64_t{0}}) {
    try {
      empty_features(FeatureType::kF16, dimensions, "vectors.npy");
      ADD_FAILURE() << dimensions;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "the vectors of vectors.npy have " + std::to_string(dimensions) +
                                  " dimensions, but the limit for features is 1 to 65536");
    }
  }
}

// The squares of most elements are outside a float's range, and some elements are near its limits.
TEST(UnitVectors, AreOfLengthOneHoweverLargeVectorsAre) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kI8}) {
    for (const float size : {1.3e-35F, 1e-20F, 1.0F, 1e20F, 3.4e38F}) {
      const UnitVectors units(table_of({{size, 0}, {size, size}, {-size, 0.5F * size}}, type));
      EXPECT_NEAR(units.cosine(0, 0), 1, 1e-6) << size;
      EXPECT_NEAR(units.cosine(0, 1), std::sqrt(0.5), 1e-6) << size;
      EXPECT_NEAR(units.cosine(0, 2), -2 / std::sqrt(5.0), 3e-3) << size;
    }
  }
}

// The table in tests/data/golden/v1/features.
FeatureTable golden_table(FeatureType type) {
  FeatureTable table = empty_features(type, 5);
  table.name = "golden";
  table.source = R"({"npy":"golden.npy"})";
  table.cache_digest = "0123456789abcdef0123456789abcdef";
  for (int row = 0; row < 7; ++row) {
    Vector vector;
    for (int i = 0; i < 5; ++i) {
      const auto whole = static_cast<float>((row * 37 + i * 11) % 23 - 9);
      vector.push_back(whole * 0.37F * static_cast<float>(row + 1));
    }
    append_feature(table, static_cast<SampleId>(3 * row + 1), vector);
  }
  return table;
}

TEST(FeatureTable, OfTheFirstVersionIsReadAndWrittenAsItWas) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kI8}) {
    const std::filesystem::path path = std::filesystem::path(WINNOW_GOLDEN) / "v1" / "features" /
                                       (std::string(feature_type_name(type)) + ".features");
    EXPECT_EQ(read_features(InputFile(path)), golden_table(type));
    const Bytes bytes = serialize(golden_table(type));
    EXPECT_EQ(read_text(path), as_text(bytes));
  }
}

std::string refusal(const Bytes& bytes) {
  try {
    parse_features(bytes, "cache/features/made.features");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "taken";
}

TEST(FeatureTable, RefusesEveryDamage) {
  const Bytes good = serialize(table_of(clustered(5, 8, 4)));
  for (std::size_t at = 0; at < good.size(); ++at) {
    Bytes bad = good;
    bad[at] ^= std::byte{0x10};
    EXPECT_NE(refusal(bad), "taken") << at;
    EXPECT_NE(refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at))),
              "taken");
  }
}

TEST(FeatureTable, RefusesWhatNoWriterMakes) {
  const FeatureTable good = table_of(clustered(5, 8, 4));
  const auto refuses = [](const FeatureTable& table, const std::string& why) {
    try {
      check_features(table, "it");
      ADD_FAILURE() << why;
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
  };
  FeatureTable bad = good;
  std::swap(bad.ids[1], bad.ids[2]);
  refuses(bad, "its ids do not ascend");
  bad = good;
  bad.scales[3] = -1;
  refuses(bad, "a scale is no number above 0");
  bad.scales[3] = std::numeric_limits<float>::infinity();
  refuses(bad, "a scale is no number above 0");
  // Not a power of two; below the least normal number
  for (const float scale : {0.75F, 0x1p-117F}) {
    bad.scales[3] = scale;
    refuses(bad, "not scaled");
  }
  bad = good;
  std::get<0>(bad.elements)[4] = {0x7c00};
  refuses(bad, "not finite");
  bad = good;
  for (std::size_t i = 8; i < 16; ++i) std::get<0>(bad.elements)[i] = {0};
  refuses(bad, "all zero");
  bad = good;
  std::get<0>(bad.elements).pop_back();
  refuses(bad, "missing");
  FeatureTable bytes = table_of(clustered(5, 8, 4), FeatureType::kI8);
  std::get<1>(bytes.elements)[0] = -128;
  refuses(bytes, "not scaled");
  bytes = table_of(clustered(5, 8, 4), FeatureType::kI8);
  for (const float scale : {5e-38F, 3e37F}) {
    bytes.scales[2] = scale;
    refuses(bytes, "not scaled");
  }
  for (const char* source : {"", "{", "[]", "\"made.npy\"", "{\"npy\":1,\"npy\":2}"}) {
    bad = good;
    bad.source = source;
    EXPECT_THAT(refusal(serialize(bad)), testing::HasSubstr("make it again with winnow embed"));
  }
}

// All pairs by a linear scan, without those that rounding decides.
std::vector<CosinePair> scan(const FeatureTable& table, double cosine) {
  std::vector<CosinePair> pairs;
  for (std::uint32_t a = 0; a < table.size(); ++a) {
    for (std::uint32_t b = a + 1; b < table.size(); ++b) {
      const double exact = exact_cosine(table, a, b);
      if (exact >= cosine) pairs.push_back({a, b, static_cast<float>(exact)});
    }
  }
  return pairs;
}

using Pair = std::pair<std::uint32_t, std::uint32_t>;

TEST(Neighbours, FindNearlyAllPairsAndNoneThatIsFalse) {
  Share share;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const FeatureType type : {FeatureType::kF16, FeatureType::kI8}) {
      const FeatureTable table = table_of(clustered(700, 24, seed), type);
      const FeatureIndex index(table, seed);
      for (const double cosine : {0.7, 0.9, 0.97, 1.0}) {
        const std::vector<CosinePair> want = scan(table, cosine);
        const std::vector<CosinePair> got = pairs_from(index, cosine);
        std::set<Pair> found;
        for (const CosinePair& pair : got) {
          const double exact = exact_cosine(table, pair.a, pair.b);
          EXPECT_NEAR(double{pair.cosine}, exact, 1e-6);
          EXPECT_GE(exact, cosine - 1e-6);
          EXPECT_TRUE(found.emplace(pair.a, pair.b).second) << "twice";
        }
        EXPECT_TRUE(std::ranges::is_sorted(
            got, {}, [](const CosinePair& pair) { return Pair(pair.a, pair.b); }));
        for (const CosinePair& pair : want) share.found += found.contains({pair.a, pair.b}) ? 1 : 0;
        share.of += static_cast<double>(want.size());
      }
    }
  }
  EXPECT_GT(share.of, 3000);
  EXPECT_GE(share.value(), 0.999) << share.found << " of " << share.of;
}

TEST(Neighbours, OfARecallAskedForFindThatMany) {
  const FeatureTable table = table_of(clustered(1500, 24, 9));
  std::vector<CosinePair> edge = scan(table, 0.9);
  std::erase_if(edge, [](const CosinePair& pair) { return pair.cosine > 0.92F; });
  ASSERT_GT(edge.size(), 50U);
  Share share;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto got = pairs_from(FeatureIndex(table, seed), 0.9, {.recall = 0.8});
    std::set<Pair> found;
    for (const CosinePair& pair : got) found.emplace(pair.a, pair.b);
    for (const CosinePair& pair : edge) share.found += found.contains({pair.a, pair.b}) ? 1 : 0;
    share.of += static_cast<double>(edge.size());
  }
  EXPECT_GE(share.value(), 0.8);
  EXPECT_LE(share.value(), 0.99);  // it searches no further than necessary
}

TEST(Neighbours, OfSomeRowsAreThoseOfAllUpToEqualVectors) {
  const FeatureTable table = table_of(clustered(400, 16, 5));
  const FeatureIndex index(table);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < table.size(); row += 2) rows.push_back(row);
  std::vector<Edge> edges;
  find_pairs(index, rows, 0.8, [&](std::span<const CosinePair> pairs) {
    for (const CosinePair& pair : pairs) edges.push_back({pair.a, pair.b, 0});
  });
  std::vector<Edge> all;
  for (const CosinePair& pair : pairs_from(index, 0.8)) {
    if (pair.a % 2 == 0 && pair.b % 2 == 0) all.push_back({pair.a, pair.b, 0});
  }
  EXPECT_LT(edges.size(), all.size());  // some vectors are equal
  EXPECT_EQ(connected_components(table.size(), edges).of_row,
            connected_components(table.size(), all).of_row);
}

TEST(Neighbours, AreTheSameOnAnyNumberOfThreads) {
  const FeatureTable table = table_of(clustered(1200, 20, 6));
  std::vector<std::vector<CosinePair>> pairs;
  std::vector<NearestRows> nearest;
  for (const std::size_t threads : {1U, 2U, 5U}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const FeatureIndex index(table);
    pairs.push_back(pairs_from(index, 0.85));
    nearest.push_back(nearest_rows(index, 7));
  }
  EXPECT_EQ(pairs[0], pairs[1]);
  EXPECT_EQ(pairs[0], pairs[2]);
  EXPECT_EQ(nearest[0].all, nearest[1].all);
  EXPECT_EQ(nearest[0].all, nearest[2].all);
}

// Cosines of the k nearest rows, by a linear scan.
std::vector<double> nearest_cosines(const FeatureTable& table, std::uint32_t row, std::size_t k) {
  std::vector<double> cosines;
  for (std::uint32_t other = 0; other < table.size(); ++other) {
    if (other != row) cosines.push_back(exact_cosine(table, row, other));
  }
  std::ranges::sort(cosines, std::greater<>());
  cosines.resize(std::min(k, cosines.size()));
  return cosines;
}

TEST(Nearest, AreExactForFewRows) {
  for (const std::size_t rows : {1U, 2U, 5U, 300U}) {
    const FeatureTable table = table_of(clustered(rows, 10, 7));
    const NearestRows nearest = nearest_rows(FeatureIndex(table), 6);
    EXPECT_EQ(nearest.rows, rows);
    EXPECT_EQ(nearest.per_row, std::min<std::size_t>(6, rows - 1));
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::vector<double> want = nearest_cosines(table, row, 6);
      ASSERT_EQ(nearest[row].size(), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        EXPECT_NEAR(double{nearest[row][i].cosine}, want[i], 1e-6);
        EXPECT_NEAR(exact_cosine(table, row, nearest[row][i].row), want[i], 1e-6);
      }
    }
  }
}

TEST(Nearest, AreNearlyAllFoundAmongMany) {
  const FeatureTable table = table_of(clustered(3000, 24, 8));
  const NearestRows nearest = nearest_rows(FeatureIndex(table), 10);
  Share share;
  for (std::uint32_t row = 0; row < table.size(); row += 7) {
    const std::vector<double> want = nearest_cosines(table, row, 10);
    share.of += 10;
    for (const NearRow& near : nearest[row]) {
      EXPECT_NE(near.row, row);
      share.found += double{near.cosine} >= want.back() - 1e-6 ? 1 : 0;
    }
  }
  EXPECT_GE(share.value(), 0.97) << share.value();
}

TEST(Outliers, AreFarFromTheirLastNeighbour) {
  std::vector<Vector> vectors = clustered(300, 16, 10);
  for (float& value : vectors[123]) value = -value - 1;  // opposite direction
  const FeatureTable table = table_of(vectors);
  const std::vector<float> far = neighbour_distances(nearest_rows(FeatureIndex(table), 10));
  ASSERT_EQ(far.size(), vectors.size());
  EXPECT_EQ(std::ranges::max_element(far) - far.begin(), 123);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    EXPECT_NEAR(double{far[row]}, 1 - nearest_cosines(table, row, 10).back(), 1e-6) << row;
  }
  const auto of = [](const std::vector<Vector>& few, int k) {
    return neighbour_distances(nearest_rows(FeatureIndex(table_of(few)), k));
  };
  EXPECT_EQ(of({{1, 2}}, 10), (std::vector<float>{0}));
  EXPECT_EQ(of({{1, 2}, {1, 2}, {2, 4}}, 1), (std::vector<float>{0, 0, 0}));
}

// Definition, in double: the distance to the mean of the other rows of a class.
double distance_to_class(const FeatureTable& table, std::span<const std::int32_t> labels,
                         std::size_t row, std::int32_t label) {
  const auto unit = [&](std::size_t of) {
    Vector vector(table.dimensions);
    table.read(of, vector);
    std::vector<double> out(vector.begin(), vector.end());
    const double length = std::sqrt(std::inner_product(out.begin(), out.end(), out.begin(), 0.0));
    for (double& value : out) value /= length;
    return out;
  };
  std::vector<double> mean(table.dimensions);
  for (std::size_t other = 0; other < table.size(); ++other) {
    if (other == row || labels[other] != label) continue;
    const std::vector<double> vector = unit(other);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += vector[i];
  }
  const std::vector<double> own = unit(row);
  const double length = std::sqrt(std::inner_product(mean.begin(), mean.end(), mean.begin(), 0.0));
  return 1 - std::inner_product(mean.begin(), mean.end(), own.begin(), 0.0) / length;
}

TEST(Outliers, AreFarFromTheirClass) {
  const FeatureTable table = table_of(clustered(200, 12, 11));
  std::vector<std::int32_t> labels;
  for (std::int32_t row = 0; row < 200; ++row) labels.push_back(row % 9 == 8 ? -1 : row % 7);
  labels[30] = 7;  // the only one of its class
  const FeatureIndex index(table);
  // Label 8 does not occur
  const std::vector<float> far = class_distances(index.vectors(), labels, 9);
  const NearestRows nearest = nearest_rows(index, 5);
  const std::vector<float> both = outlier_distances(nearest, index.vectors(), labels, 9);
  for (std::uint32_t row = 0; row < table.size(); ++row) {
    double want = 2;
    for (std::int32_t label = 0; label < 8; ++label) {
      const bool is_own = labels[row] == label;
      if (is_own ? row == 30 : labels[row] >= 0 && row != 30) continue;
      want = std::min(want, distance_to_class(table, labels, row, label));
    }
    ASSERT_NEAR(double{far[row]}, want, 1e-6) << row;
    ASSERT_NEAR(double{both[row]}, want * (1 - double{nearest[row].back().cosine}), 1e-6) << row;
  }
  EXPECT_EQ(outlier_distances(nearest, index.vectors(), {}, 0), neighbour_distances(nearest));
  EXPECT_EQ(class_distances(index.vectors(), std::vector<std::int32_t>(200, -1), 3),
            std::vector<float>(200));
}

// A table of images without equal files or pixels. It has the ids of the features and one more.
Fingerprints images_of(const FeatureTable& features) {
  std::vector<TestImage> images;
  for (std::size_t row = 0; row <= features.size(); ++row) {
    const bool has = row < features.size();
    images.push_back({.id = has ? features.ids[row] : features.ids.back() + 1,
                      .split = row % 5 == 4 ? Split::kTest : Split::kTrain,
                      .code = row * 0x9E3779B97F4A7C15,
                      .file = row,
                      .pixels = 1000000 + row});
  }
  return make_table(images);
}

// Compares by features, from a cosine of `cosine` on.
struct ByFeatures {
  ByFeatures(const FeatureTable& features, double cosine)
      : table(images_of(features)), links(compare_by(features, [this](const ColumnNames& names) {
          return select_columns(table, names);
        })) {
    options.hash = kCosine;
    options.threshold = distance_of_cosine(cosine);
    options.matching.features = features.name;
  }

  Fingerprints table;
  FeatureLinks links;
  Options options;
};

TEST(FeatureLinks, GroupWhatALinearScanFindsNear) {
  const FeatureTable features = table_of(clustered(500, 24, 12));
  const ByFeatures by(features, 0.9);
  const Result result = deduplicate(by.links.columns, by.options, by.links.links);
  std::vector<Edge> edges;
  for (const CosinePair& pair : scan(features, 0.9)) edges.push_back({pair.a, pair.b, 0});
  const Components want = connected_components(by.table.size(), edges);
  EXPECT_EQ(result.selection.components, want.of_row);
  EXPECT_EQ(result.groups.size(), members_of_groups(want).size());
  EXPECT_GT(result.groups.size(), 20U);
  EXPECT_GT(result.leaks.size(), 0U);
  const Selection& selection = result.selection;
  for (std::uint32_t row = 0; row < features.size(); ++row) {
    const auto kept = std::ranges::lower_bound(selection.ids, selection.kept[row]);
    const auto other = static_cast<std::size_t>(kept - selection.ids.begin());
    EXPECT_NEAR(selection.distances[row], 1000 * (1 - exact_cosine(features, row, other)), 0.51);
  }
  EXPECT_EQ(selection.rules.back(), Rule::kKept);  // it has no vector
}

TEST(FeatureLinks, ListPairsWithTheirCosines) {
  const FeatureTable features = table_of(clustered(120, 24, 13));
  const ByFeatures by(features, 0.92);
  std::size_t pairs = 0;
  for_each_pair(by.links.columns, by.options, by.links.links, [&](const Edge& pair) {
    ++pairs;
    const double cosine = exact_cosine(features, pair.a, pair.b);
    EXPECT_NEAR(pair.distance, 1000 * (1 - cosine), 0.51);
    EXPECT_GE(cosine, 0.92 - 1e-6);
  });
  EXPECT_EQ(pairs, scan(features, 0.92).size());
  std::string text;
  list_pairs(by.links.columns, by.options, {by.links.links}, by.table,
             [](SampleId id) { return std::to_string(id); },
             {ListForm::kCsv, [&](std::string_view line) { text += line; }});
  EXPECT_THAT(text, testing::HasSubstr("other_labels,distance,cosine\n"));
}

TEST(FeatureLinks, TakeCosinesOfThousandths) {
  EXPECT_EQ(distance_of_cosine(0.97), 30);
  EXPECT_EQ(distance_of_cosine(1), 0);
  EXPECT_EQ(cosine_of_distance(30), 0.97);
  for (const double bad : {0.0, -0.5, 1.001, 0.9995, std::nan("")}) {
    EXPECT_THROW(distance_of_cosine(bad), UsageError) << bad;
  }
}

TEST(Radius, FollowsTheAngle) {
  const Vector at_one(10, 1.0F);
  EXPECT_EQ(radius_for(at_one, 1.0, 0.999), 0);
  // At 60 degrees a third of the bits differ, 85.33, so half of the pairs differ in at most 85.
  EXPECT_NEAR(radius_for(at_one, 0.5, 0.5), 85, 1);
  EXPECT_GT(radius_for(at_one, 0.5, 0.999), 85 + 3 * 7);
  EXPECT_LT(radius_for(at_one, 0.9, 0.999), radius_for(at_one, 0.8, 0.999));
  EXPECT_GT(radius_for(Vector(10, 0.5F), 0.9, 0.999), radius_for(at_one, 0.9, 0.999));
  EXPECT_EQ(radius_for(Vector(10, 0.01F), 0.5, 0.999), kProjections);
}

}  // namespace winnow::dedup::features_test
