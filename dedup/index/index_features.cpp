#include "dedup/index/index_features.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/error.h"
#include "common/json.h"
#include "dedup/features/feature_links.h"

namespace winnow::dedup {
namespace {

constexpr std::uint32_t kNotInFile = std::numeric_limits<std::uint32_t>::max();

// The digest of the net's weights; empty if the net is unknown.
std::string net_of(const FeatureTable& table) {
  const std::optional<Json> source = Json::parse_if_json(table.source);
  if (!source || !source->contains("net") || !source->contains("digest")) return {};
  return source->at("digest").text();
}

void check_comparable(const FeatureTable& a, const FeatureTable& b) {
  const std::string remedy =
      "; compute those of all caches with winnow embed, by the same net and with the same --dtype";
  if (a.dimensions != b.dimensions) {
    throw UsageError("features '" + a.name + "' have " + std::to_string(a.dimensions) +
                     " dimensions in one cache, but '" + b.name + "' have " +
                     std::to_string(b.dimensions) + " in another" + remedy);
  }
  if (a.type() != b.type()) {
    throw UsageError("features '" + a.name + "' are stored as " +
                     std::string(feature_type_name(a.type())) + " in one cache and '" + b.name +
                     "' as " + std::string(feature_type_name(b.type())) + " in another" + remedy);
  }
  const std::string of_a = net_of(a);
  const std::string of_b = net_of(b);
  if (!of_a.empty() && !of_b.empty() && of_a != of_b) {
    throw UsageError("features '" + a.name + "' of one cache and '" + b.name +
                     "' of another were computed by nets with different weights" + remedy);
  }
}

// An empty table of the kind of `like`.
FeatureTable empty_like(const FeatureTable& like) {
  FeatureTable table = empty_features(like.type(), like.dimensions);
  table.name = like.name;
  table.source = like.source;
  return table;
}

void copy_row(const FeatureTable& from, std::size_t row, SampleId id, FeatureTable& to) {
  to.ids.push_back(id);
  to.scales.push_back(from.scales[row]);
  std::visit(
      [&](auto& elements) {
        const auto& all = std::get<std::remove_cvref_t<decltype(elements)>>(from.elements);
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * from.dimensions);
        elements.insert(elements.end(), begin, begin + from.dimensions);
      },
      to.elements);
}

// The nearest row of the index for each row of a table.
class NearestKnown {
 public:
  explicit NearestKnown(std::size_t rows) : best_(rows, {0.0F, kNotInFile}) {}
  void offer(std::uint32_t row, float cosine, std::uint32_t known) {
    auto& [best, at] = best_[row];
    if (at == kNotInFile || cosine > best || (cosine == best && known < at))
      best_[row] = {cosine, known};
  }
  // The first known row of each hash.
  void offer_equal(const std::vector<Hash128>& asked, const std::vector<Hash128>& known) {
    std::map<Hash128, std::uint32_t> first;
    for (const Hash128& hash : asked) first.emplace(hash, kNotInFile);
    for (std::uint32_t row = 0; row < known.size(); ++row) {
      const auto at = first.find(known[row]);
      if (at != first.end()) at->second = std::min(at->second, row);
    }
    for (std::uint32_t row = 0; row < asked.size(); ++row) {
      if (const std::uint32_t same = first.at(asked[row]); same != kNotInFile) offer(row, 1, same);
    }
  }
  std::vector<FeatureMatch> matches(const std::vector<SampleId>& ids) const {
    std::vector<FeatureMatch> out;
    for (std::uint32_t row = 0; row < best_.size(); ++row) {
      const auto& [cosine, known] = best_[row];
      if (known != kNotInFile) out.push_back({row, ids[known], cosine});
    }
    return out;
  }

 private:
  std::vector<std::pair<float, std::uint32_t>> best_;
};

// Vectors of rows of several tables as one table, those of the index first.
struct Together {
  FeatureTable table;
  std::vector<std::uint32_t> rows;  // rows of the vectors

  void append(const std::vector<SampleId>& ids, std::span<const std::uint32_t> some,
              const FeatureTable& features) {
    std::size_t at = 0;
    for (const std::uint32_t row : some) {
      while (at < features.size() && features.ids[at] < ids[row]) ++at;
      if (at == features.size()) return;
      if (features.ids[at] != ids[row]) continue;
      copy_row(features, at, table.ids.size(), table);  // a placeholder id
      rows.push_back(row);
    }
  }
};

}  // namespace

FeatureTable join_features(const StoredIndex& index, std::span<const FeaturesOfSource> from) {
  std::vector<FeaturesOfSource> of_source(index.sources().size());
  const FeatureTable* first = nullptr;
  for (const FeaturesOfSource& one : from) {
    of_source.at(one.source_in_index) = one;
    if (first) check_comparable(*first, *one.table);
    if (!first) first = one.table;
  }
  FeatureTable joined = first ? empty_like(*first) : empty_features(FeatureType::kF16, 1);
  for (const SampleId id : index.columns()({}).ids) {
    const std::uint32_t source = source_of(id);
    const FeaturesOfSource& have = of_source[source];
    if (!have.table) {
      throw UsageError("there are no features of the images of " + index.sources()[source].name +
                       " (source " + std::to_string(source) + " of " + index.folder().string() +
                       "); name the cache that has them with --source");
    }
    const SampleId there = make_sample_id(have.source_in_table, position_of(id));
    const auto at = std::ranges::lower_bound(have.table->ids, there);
    if (at == have.table->ids.end() || *at != there) continue;
    copy_row(*have.table, static_cast<std::size_t>(at - have.table->ids.begin()), id, joined);
  }
  return joined;
}

std::vector<FeatureMatch> find_by_features(const StoredIndex& index, const ColumnSource& asked,
                                           const FeatureQuestion& question,
                                           const NeighbourOptions& options) {
  const FeatureTable& known = question.known;
  if (known.size() > 0) check_comparable(known, question.of_asked);
  const auto enough = [&](const Fingerprints& table) {
    return matchable_rows(table, kCosine, question.least_quality);
  };
  const Fingerprints in_index = index.columns()({"quality"});
  const Fingerprints table = asked({"quality"});
  Together both{empty_like(question.of_asked), {}};
  if (known.size() > 0) both.append(in_index.ids, enough(in_index), known);
  const std::size_t end = both.rows.size();
  both.append(table.ids, enough(table), question.of_asked);

  NearestKnown nearest(table.size());
  const FeatureIndex vectors(both.table);
  std::vector<std::uint32_t> numbers(both.rows.size());
  std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
  find_pairs_between(
      vectors, std::span(numbers).first(end), std::span(numbers).subspan(end), question.cosine,
      [&](std::span<const CosinePair> pairs) {
        for (const CosinePair& pair : pairs) {
          nearest.offer(both.rows[pair.b], pair.cosine, both.rows[pair.a]);
        }
      },
      options);
  const auto offer_equal = [&](const char* column, auto hashes) {
    nearest.offer_equal(hashes(asked({column})), hashes(index.columns()({column})));
  };
  offer_equal("file_hashes", [](const Fingerprints& of) { return of.file_hashes; });
  offer_equal("pixel_hashes", [](const Fingerprints& of) { return of.pixel_hashes; });
  return nearest.matches(in_index.ids);
}

}  // namespace winnow::dedup
