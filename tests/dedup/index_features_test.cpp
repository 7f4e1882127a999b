// An index by features decides like one table of its live rows with all their vectors, and answers
// like a linear scan.

#include "dedup/index/index_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "dedup/features/feature_links.h"
#include "tests/common/temporary_folder.h"
#include "tests/dedup/tables.h"

namespace winnow::dedup::index_features_test {

using testing::HasSubstr;
using testing::ThrowsMessage;

// An image and its vector. Without a vector it matches only by equal files and pixels.
struct Seen {
  TestImage image;
  std::optional<std::vector<float>> vector;
};

Fingerprints table_of(const std::vector<Seen>& images) {
  std::vector<TestImage> of;
  for (const Seen& seen : images) of.push_back(seen.image);
  return make_table(of);
}

FeatureTable features_of(const std::vector<Seen>& images, FeatureType type = FeatureType::kF16,
                         const std::string& source = R"({"npy":"made.npy","digest":"1"})") {
  FeatureTable table = empty_features(type, 12);
  table.name = "made";
  table.source = source;
  for (const auto& [image, vector] : images) {
    if (vector) append_feature(table, image.id, *vector);
  }
  return table;
}

ColumnSource columns_of(const std::vector<Seen>& images) {
  return
      [table = table_of(images)](const ColumnNames& names) { return select_columns(table, names); };
}

// Images whose vectors are near, or equal to, those of earlier images.
class World {
 public:
  explicit World(std::uint64_t seed) : rng_(test_rng(seed)) {}
  CounterRng& rng() { return rng_; }

  // The images of one cache with this number of sources.
  std::vector<Seen> cache(std::uint32_t sources) {
    std::vector<Seen> images;
    for (std::uint32_t source = 0; source < sources; ++source) {
      const std::uint32_t count = 1 + rng_.below(14);
      for (std::uint32_t i = 0; i < count; ++i) {
        images.push_back(image(make_sample_id(source, 3 * i + rng_.below(3))));
      }
    }
    return images;
  }

 private:
  Seen image(SampleId id) {
    const auto number = [&] { return rng_.below(8) == 0 ? rng_.below(9) : 100 + next_++; };
    Seen seen{{.id = id, .split = static_cast<Split>(rng_.below(4))}, std::nullopt};
    seen.image.file = number();
    seen.image.pixels = number();
    seen.image.quality = rng_.below(9) == 0 ? 0.0F : 50.0F;
    if (rng_.below(9) == 0) return seen;
    const double change = rng_.below(3) == 0 ? 0.0 : 0.2 * rng_.uniform();
    std::vector<float> vector(12);
    const bool is_new = known_.empty() || rng_.below(3) == 0;
    const auto& from =
        is_new ? vector : known_[rng_.below(static_cast<std::uint32_t>(known_.size()))];
    for (std::size_t i = 0; i < vector.size(); ++i) {
      const double own = rng_.uniform() - 0.5;
      vector[i] = static_cast<float>(is_new ? own : double{from[i]} + change * own);
    }
    known_.push_back(vector);
    seen.vector = std::move(vector);
    return seen;
  }

  CounterRng rng_;
  std::vector<std::vector<float>> known_;
  std::uint64_t next_ = 0;
};

// An index, and the features of the caches that were added to it.
struct Grown {
  explicit Grown(std::filesystem::path path) : folder(std::move(path)) {}

  void add(const std::vector<Seen>& images, FeatureTable features) {
    Addition addition;
    addition.columns = columns_of(images);
    addition.names = [images](const NameSink& sink) {
      for (const Seen& seen : images) sink(seen.image.id, std::to_string(seen.image.id));
    };
    const auto& table = tables.emplace_back(std::make_unique<FeatureTable>(std::move(features)));
    for (std::uint32_t source = 0; source <= source_of(images.back().image.id); ++source) {
      IndexSource& to = addition.sources.emplace_back();
      to.name = "set" + std::to_string(from.size());
      to.format = "test";
      to.listing_hash = to_hex(hash_of_number(from.size()));
      from.push_back({table.get(), source, static_cast<std::uint32_t>(from.size())});
    }
    const auto first = static_cast<std::uint32_t>(from.size() - addition.sources.size());
    add_to_index(folder, addition, {.hash = "phash", .radius = 4});
    for (Seen seen : images) {
      const SampleId id = seen.image.id;
      seen.image.id = make_sample_id(first + source_of(id), position_of(id));
      live[seen.image.id] = seen;
    }
  }
  void add(World& world) {
    const std::vector<Seen> images = world.cache(1 + world.rng().below(2));
    add(images, features_of(images));
  }
  void remove_some(World& world) {
    Deletion deletion;
    for (const auto& [id, seen] : live) {
      if (world.rng().below(4) == 0) deletion.ids.push_back(id);
    }
    delete_from_index(folder, deletion);
    for (const SampleId id : deletion.ids) live.erase(id);
  }
  std::vector<Seen> all() const {
    std::vector<Seen> images;
    for (const auto& [id, seen] : live) images.push_back(seen);
    return images;
  }

  std::filesystem::path folder;
  std::vector<std::unique_ptr<FeatureTable>> tables;
  std::vector<FeaturesOfSource> from;
  std::map<SampleId, Seen> live;
};

Bytes decided(const ColumnSource& columns, const FeatureTable& features, Options options) {
  options.hash = kCosine;
  options.matching.features = features.name;
  const FeatureLinks by = compare_by(features, columns);
  return serialize(deduplicate(by.columns, options, by.links).selection);
}

void expect_decides_as_full_run(const Grown& grown) {
  const StoredIndex index = StoredIndex::open(grown.folder);
  const FeatureTable joined = join_features(index, grown.from);
  const FeatureTable want = features_of(grown.all());
  ASSERT_EQ(joined.ids, want.ids);
  ASSERT_EQ(joined, want);
  const ColumnSource full = columns_of(grown.all());
  for (const int threshold : {0, 5, 30, 120}) {
    for (const Scope scope : {Scope::kAll, Scope::kAcross}) {
      for (const GroupKind groups : {GroupKind::kComponents, GroupKind::kCliques}) {
        Options options;
        options.threshold = threshold;
        options.scope = scope;
        options.groups = groups;
        ASSERT_EQ(decided(index.columns(), joined, options), decided(full, want, options))
            << threshold << " " << scope_name(scope);
      }
    }
  }
}

TEST(IndexFeatures, DecideAsTheFullRunHoweverTheIndexGrew) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder;
    World world(seed);
    Grown grown(folder / "a");
    grown.add(world);
    for (std::uint32_t steps = 2 + world.rng().below(5); steps > 0; --steps) {
      switch (world.rng().below(4)) {
        case 0:
          grown.remove_some(world);
          break;
        case 1:
          compact_index(grown.folder);
          break;
        default:
          grown.add(world);
      }
    }
    ASSERT_NO_FATAL_FAILURE(expect_decides_as_full_run(grown));
  }
}

// The result of a linear scan: the cosine and the image of the nearest vector.
std::map<std::uint32_t, FeatureMatch> scan(const std::vector<Seen>& known,
                                           const std::vector<Seen>& asked, double cosine) {
  std::vector<Seen> all = known;
  for (Seen seen : asked) {
    seen.image.id += make_sample_id(1000, 0);
    all.push_back(seen);
  }
  const FeatureTable table = features_of(all);
  const FeatureIndex vectors(table);
  std::map<std::uint32_t, FeatureMatch> best;
  for (std::uint32_t row = 0; row < asked.size(); ++row) {
    const Seen& a = all[known.size() + row];
    for (const Seen& b : known) {
      std::optional<float> near;
      if (a.vector && b.vector && a.image.quality > 0 && b.image.quality > 0) {
        const auto number = [&](const Seen& of) {
          return static_cast<std::uint32_t>(std::ranges::lower_bound(table.ids, of.image.id) -
                                            table.ids.begin());
        };
        const float found = vectors.cosine(number(a), number(b));
        if (double{found} >= cosine) near = found;
      }
      if (a.image.file == b.image.file || a.image.pixels == b.image.pixels) near = 1.0F;
      if (!near || (best.contains(row) && best[row].cosine >= *near)) continue;
      best[row] = {row, b.image.id, *near};
    }
  }
  return best;
}

TEST(IndexFeatures, AnswerWithTheNearestOfALinearScan) {
  std::size_t known = 0;
  std::size_t of = 0;
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const TemporaryFolder folder;
    World world(seed);
    Grown grown(folder / "a");
    for (int i = 0; i < 3; ++i) grown.add(world);
    grown.remove_some(world);
    const std::vector<Seen> asked = world.cache(2);
    const StoredIndex index = StoredIndex::open(grown.folder);
    const FeatureTable joined = join_features(index, grown.from);
    for (const double cosine : {0.8, 0.95, 1.0}) {
      const std::map<std::uint32_t, FeatureMatch> want = scan(grown.all(), asked, cosine);
      of += want.size();
      const FeatureTable of_asked = features_of(asked);
      const std::vector<FeatureMatch> got =
          find_by_features(index, columns_of(asked), {joined, of_asked, cosine});
      ASSERT_TRUE(std::ranges::is_sorted(got, {}, &FeatureMatch::row));
      for (const FeatureMatch& match : got) {
        ASSERT_TRUE(want.contains(match.row)) << match.row;
        known += match == want.at(match.row) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(of, 500U);
  EXPECT_GE(static_cast<double>(known), 0.998 * static_cast<double>(of)) << known << " of " << of;
}

TEST(IndexFeatures, OfAnEmptyIndexAreNone) {
  const TemporaryFolder folder;
  World world(7);
  Grown grown(folder / "a");
  grown.add(world);
  Deletion all;
  all.source = 0;
  delete_from_index(grown.folder, all);
  all.source = 1;
  if (grown.from.size() > 1) delete_from_index(grown.folder, all);
  const StoredIndex index = StoredIndex::open(grown.folder);
  const FeatureTable none = join_features(index, {});  // no live row needs features
  EXPECT_EQ(none.size(), 0U);
  const std::vector<Seen> asked = world.cache(1);
  const FeatureTable of_asked = features_of(asked);
  EXPECT_TRUE(find_by_features(index, columns_of(asked), {none, of_asked, 0.5}).empty());
}

TEST(IndexFeatures, RefuseWhatDoesNotCompare) {
  const std::string net_1 = R"({"net":"lenet","digest":"aa"})";
  const std::string net_2 = R"({"net":"lenet","digest":"bb"})";
  const TemporaryFolder folder;
  World world(8);
  const auto index_of = [&](const char* name, const FeatureTable& a, const FeatureTable& b,
                            const std::vector<Seen>& one, const std::vector<Seen>& other) {
    Grown grown(folder / name);
    grown.add(one, a);
    grown.add(other, b);
    join_features(StoredIndex::open(grown.folder), grown.from);
  };
  const std::vector<Seen> one = world.cache(1);
  const std::vector<Seen> other = world.cache(1);
  const FeatureTable by_net = features_of(one, FeatureType::kF16, net_1);
  EXPECT_THAT(
      [&] { index_of("a", by_net, features_of(other, FeatureType::kF16, net_2), one, other); },
      ThrowsMessage<UsageError>(HasSubstr("computed by nets with different weights")));
  EXPECT_THAT([&] { index_of("b", by_net, features_of(other, FeatureType::kI8), one, other); },
              ThrowsMessage<UsageError>(HasSubstr("stored as f16 in one cache and 'made' as i8")));
  FeatureTable short_ones = empty_features(FeatureType::kF16, 3);
  short_ones.name = "made";
  EXPECT_THAT(
      [&] { index_of("c", by_net, short_ones, one, other); },
      ThrowsMessage<UsageError>(HasSubstr("12 dimensions in one cache, but 'made' have 3")));
  EXPECT_NO_THROW(index_of("d", by_net, features_of(other), one, other));  // their nets are unknown

  Grown grown(folder / "e");
  grown.add(one, by_net);
  grown.add(other, features_of(other));
  const StoredIndex index = StoredIndex::open(grown.folder);
  EXPECT_THAT([&] { join_features(index, std::span(grown.from).first(1)); },
              ThrowsMessage<UsageError>(HasSubstr("set1 (source 1 of ")));
  EXPECT_THAT(
      [&] {
        find_by_features(index, columns_of(one), {short_ones, by_net, 0.5});
      },
      testing::Not(testing::Throws<UsageError>()));  // an empty table is of any kind
}

}  // namespace winnow::dedup::index_features_test
