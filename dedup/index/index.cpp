#include "dedup/index/index.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "common/checksum.h"
#include "common/error.h"
#include "dedup/index/open_index_internal.h"

namespace winnow::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kBatch = 16384;

// Reports the stored links among `rows`. `classes`: for each live row, the first row of its code.
void give_links(const OpenIndex& index, std::span<const std::uint32_t> classes,
                std::span<const std::uint32_t> rows, int threshold, const StopRequested& stop,
                const EdgeSink& sink) {
  std::vector<std::uint32_t> first(index.rows(), kNoGroup);  // first of `rows` in each class
  std::vector<Edge> batch;
  const auto give = [&](const Edge& edge) {
    batch.push_back(edge);
    if (batch.size() < kBatch) return;
    sink(batch);
    batch.clear();
  };
  for (const std::uint32_t row : rows) {
    const std::uint32_t of_class = classes[row];
    if (of_class == kNoCode) {
      throw Error("row " + std::to_string(row) + " of " + index.folder().string() +
                  " has no code to link it by, because its picture has too little detail");
    }
    if (first[of_class] == kNoGroup) {
      first[of_class] = row;
    } else {
      give({first[of_class], row, 0});
    }
  }
  index.for_each_link(0, threshold, [&](std::span<const Edge> edges) {
    check_stop(stop);
    for (const Edge& edge : edges) {
      const std::uint32_t a = first[edge.a];
      const std::uint32_t b = first[edge.b];
      if (a != kNoGroup && b != kNoGroup) give({std::min(a, b), std::max(a, b), edge.distance});
    }
  });
  if (!batch.empty()) sink(batch);
}

// The nearest live row of the index for each row of a table.
class NearestGroup {
 public:
  explicit NearestGroup(std::size_t rows) : best_(rows, {kNoGroup, kNoGroup}) {}
  void offer(std::uint32_t row, std::uint32_t distance, std::uint32_t in_index) {
    best_[row] = std::min(best_[row], {distance, in_index});
  }
  // All rows of one code share the result for the first of them.
  void share(std::span<const std::uint32_t> first_of) {
    for (std::uint32_t row = 0; row < first_of.size(); ++row) {
      if (first_of[row] != kNoCode) best_[row] = std::min(best_[row], best_[first_of[row]]);
    }
  }
  std::vector<Match> matches(std::span<const SampleId> ids) const {
    std::vector<Match> out;
    for (std::uint32_t row = 0; row < best_.size(); ++row) {
      const auto& [distance, in_index] = best_[row];
      if (in_index != kNoGroup) out.push_back({row, ids[in_index], distance});
    }
    return out;
  }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> best_;
};

// Offers the first row of the index that has the same hash.
void offer_equal(const std::vector<Hash128>& hashes, const std::vector<Hash128>& in_index,
                 NearestGroup& nearest) {
  std::map<Hash128, std::uint32_t> first;
  for (const Hash128& hash : hashes) first.emplace(hash, kNoGroup);
  for (std::uint32_t row = 0; row < in_index.size(); ++row) {
    const auto at = first.find(in_index[row]);
    if (at != first.end() && at->second == kNoGroup) at->second = row;
  }
  for (std::uint32_t row = 0; row < hashes.size(); ++row) {
    if (const std::uint32_t same = first.at(hashes[row]); same != kNoGroup)
      nearest.offer(row, 0, same);
  }
}

}  // namespace

StoredIndex::StoredIndex(std::shared_ptr<const OpenIndex> index) : index_(std::move(index)) {}

StoredIndex StoredIndex::open(const fs::path& folder) { return StoredIndex(open_index(folder)); }

std::optional<StoredIndex> StoredIndex::find(const fs::path& folder) {
  auto index = find_index(folder);
  if (!index) return std::nullopt;
  return StoredIndex(std::move(index));
}

const fs::path& StoredIndex::folder() const noexcept { return index_->folder(); }
const IndexKind& StoredIndex::kind() const noexcept { return index_->manifest().kind; }
const std::vector<IndexSource>& StoredIndex::sources() const noexcept {
  return index_->manifest().sources;
}
const std::vector<std::string>& StoredIndex::classes() const noexcept {
  return index_->manifest().classes;
}
std::uint64_t StoredIndex::live_rows() const noexcept { return index_->live_rows(); }
std::uint64_t StoredIndex::deleted_rows() const noexcept { return index_->manifest().deleted; }
std::size_t StoredIndex::segments() const noexcept { return index_->manifest().segments.size(); }

std::uint64_t StoredIndex::bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const SealedFile* file : index_->manifest().files()) bytes += file->bytes;
  return bytes;
}

ColumnSource StoredIndex::columns() const {
  return [index = index_](const ColumnNames& names) { return index->live_columns(names); };
}

ThumbnailSource StoredIndex::thumbnails() const { return index_->live_thumbnails(); }

LinkSource StoredIndex::links(const SearchOptions& search) const {
  std::vector<std::uint32_t> classes = index_->read_firsts();
  std::size_t live = 0;
  for (std::size_t row = 0; row < classes.size(); ++row) {
    if (index_->live()[row]) classes[live++] = classes[row];
  }
  classes.resize(live);
  // The returned function gets copied; its rows are shared.
  const auto shared = std::make_shared<const std::vector<std::uint32_t>>(std::move(classes));
  return
      [index = index_, shared, search](const CodeColumn& codes, std::span<const std::uint32_t> rows,
                                       int threshold, const EdgeSink& sink) {
        if (threshold > index->manifest().kind.radius) {
          find_edges(codes, rows, threshold, sink, search);
        } else {
          give_links(*index, *shared, rows, threshold, search.stop, sink);
        }
      };
}

NameSource StoredIndex::names() const {
  return [index = index_](const NameSink& sink) {
    const std::vector<SampleId> ids = index->columns({}).ids;
    index->for_each_name([&](std::uint64_t row, std::string_view name) {
      if (index->live()[row]) sink(ids[row], name);
    });
  };
}

std::function<std::string(SampleId)> StoredIndex::name_of() const {
  std::vector<NamesFile> files;
  for (std::size_t i = 0; i < segments(); ++i) files.push_back(index_->open_names(i));
  return [index = index_, files = std::move(files), ids = index_->columns({}).ids](SampleId id) {
    const auto row = static_cast<std::uint64_t>(std::ranges::lower_bound(ids, id) - ids.begin());
    if (row == ids.size() || ids[row] != id || !index->live()[row]) {
      throw Error(index->folder().string() + " has no sample " + std::to_string(id));
    }
    std::size_t segment = 0;
    while (row >= index->first_row(segment + 1)) ++segment;
    return files[segment].name(row - index->first_row(segment));
  };
}

std::string StoredIndex::digest() const {
  Xxh3Stream stream;
  const auto update = [&](const auto& values) { stream.update(as_bytes(values)); };
  {
    const Fingerprints table = index_->live_columns({"labels"});
    update(table.ids);
    update(table.splits);
    update(table.labels.offsets);
    update(table.labels.values);
  }
  update(index_->live_columns({"file_hashes"}).file_hashes);
  update(index_->live_columns({"pixel_hashes"}).pixel_hashes);
  return to_hex(stream.digest());
}

void StoredIndex::check_quality(LeastQuality least) const {
  const std::string& hash = index_->manifest().kind.hash;
  const double linked = advised_quality(hash);
  if (!least || *least >= linked) return;
  throw UsageError("an index of " + hash + " links only images of quality " +
                   std::to_string(static_cast<int>(linked)) +
                   " or more; ask for at least that quality, or search a cache with winnow dedup");
}

std::vector<Match> StoredIndex::find_matches(const ColumnSource& source, int threshold,
                                             const SearchOptions& search,
                                             LeastQuality least_quality) const {
  check_quality(least_quality);
  const IndexKind& kind = index_->manifest().kind;
  const Fingerprints table = source({codes_name(kind), "quality"});
  const CodeColumn& codes = comparable_codes(table, kind, "what is looked for");
  check_threshold(codes, threshold);
  const std::vector<std::uint32_t> first_of =
      first_rows_of(codes, matchable_rows(table, kind.hash, least_quality), table.size(),
                    [&](const auto&... arguments) { find_edges(arguments..., search); });
  NearestGroup nearest(table.size());
  const Fingerprints all = index_->live_columns({codes_name(kind), "quality"});
  const auto is_enough = is_enough_for(kind.hash, least_quality);
  if (all.size() > 0) {
    // Rows of one code are represented by the first of them.
    std::vector<bool> seen(index_->rows());
    std::vector<std::uint32_t> firsts;
    const std::vector<std::uint32_t> classes = index_->read_firsts();
    std::uint32_t live_row = 0;
    for (std::size_t row = 0; row < classes.size(); ++row) {
      if (!index_->live()[row]) continue;
      const bool matches = classes[row] != kNoCode && is_enough(all.quality[live_row]);
      if (matches && !seen[classes[row]]) {
        seen[classes[row]] = true;
        firsts.push_back(live_row);
      }
      ++live_row;
    }
    find_edges_between(
        {codes, own_firsts(first_of)}, {all.codes.front(), firsts}, threshold,
        [&](std::span<const Edge> edges) {
          for (const Edge& e : edges) nearest.offer(e.a, e.distance, e.b);
        },
        search);
    nearest.share(first_of);
    offer_equal(source({"file_hashes"}).file_hashes,
                index_->live_columns({"file_hashes"}).file_hashes, nearest);
    offer_equal(source({"pixel_hashes"}).pixel_hashes,
                index_->live_columns({"pixel_hashes"}).pixel_hashes, nearest);
  }
  return nearest.matches(all.ids);
}

}  // namespace winnow::dedup
