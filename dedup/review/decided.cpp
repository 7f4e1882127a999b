#include "dedup/review/decided.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "common/error.h"

namespace winnow::dedup {
namespace {

// The rows of each judged image.
class RowsOfImages {
 public:
  RowsOfImages(std::span<const Judgement> judgements, const std::vector<Hash128>& file_hashes) {
    for (const Judgement& judgement : judgements) {
      if (judgement.verdict == Verdict::kUnsure) continue;
      for (const Hash128& image : judgement.images) rows_[image];
    }
    for (std::uint32_t row = 0; row < file_hashes.size() && !rows_.empty(); ++row) {
      const auto found = rows_.find(file_hashes[row]);
      if (found != rows_.end()) found->second.push_back(row);
    }
  }

  // Ascending; empty if the table does not have the image.
  const RowList& operator[](const Hash128& image) const { return rows_.at(image); }
  std::uint64_t unknown() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(rows_, [](const auto& image) { return image.second.empty(); }));
  }

 private:
  std::map<Hash128, RowList> rows_;
};

// Links between rows that are equal in a column, and therefore one picture whatever was judged.
std::vector<Edge> edges_of_equal(const std::vector<Hash128>& hashes) {
  RowList all(hashes.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return equal_edges(hashes, all);
}

UnionFind equal_rows(const ColumnSource& columns, const std::vector<Hash128>& file_hashes) {
  UnionFind equal(file_hashes.size());
  equal.unite(edges_of_equal(file_hashes));
  equal.unite(edges_of_equal(columns({"pixel_hashes"}).pixel_hashes));
  return equal;
}

void unite_all(const RowList& rows, UnionFind& into) {
  for (std::size_t i = 1; i < rows.size(); ++i) into.unite({rows[i - 1], rows[i], 0});
}

// Two of `rows` that `linked` unites; nullopt if there are none.
std::optional<std::pair<std::uint32_t, std::uint32_t>> two_linked(const RowList& rows,
                                                                  UnionFind& linked) {
  std::map<std::uint32_t, std::uint32_t> first;  // by root
  for (const std::uint32_t row : rows) {
    const auto [at, is_new] = first.try_emplace(linked.root_of(row), row);
    if (!is_new) return std::pair(at->second, row);
  }
  return std::nullopt;
}

// A judgement with its rows.
struct JudgedRows {
  const Judgement* judgement;
  RowList rows;
};

std::string place_of(const Judgement& judgement, std::span<const Review> reviews) {
  return reviews[judgement.review].file + ", line " + std::to_string(judgement.line);
}

// The display name of the image of a row.
std::string name_of(const JudgedRows& judged, std::uint32_t row,
                    const std::vector<Hash128>& file_hashes) {
  const std::vector<Hash128>& images = judged.judgement->images;
  const auto at =
      static_cast<std::size_t>(std::ranges::find(images, file_hashes[row]) - images.begin());
  const bool named = judged.judgement->names.size() == images.size();
  return "'" + (named ? judged.judgement->names[at] : to_hex(images[at])) + "'";
}

// Throws the error for a contradiction. Starts from `linked` (what is equal) and repeats the other
// links, to name the judgement that caused it.
[[noreturn]] void refuse(const JudgedRows& apart, std::pair<std::uint32_t, std::uint32_t> two,
                         const std::vector<JudgedRows>& same, UnionFind linked,
                         const std::vector<Hash128>& file_hashes, std::span<const Review> reviews) {
  const auto links_both = [&](const JudgedRows& judged) {
    unite_all(judged.rows, linked);
    return linked.root_of(two.first) == linked.root_of(two.second);
  };
  const auto judged = std::ranges::find_if(same, links_both);
  throw UsageError(
      place_of(*apart.judgement, reviews) + " says that " + name_of(apart, two.first, file_hashes) +
      " and " + name_of(apart, two.second, file_hashes) + " are different, but " +
      place_of(*judged->judgement, reviews) +
      " says that they are the same picture, directly or through others; undo one of the two");
}

// Checks for images that shall both represent their groups and be dropped.
void check_kept(const std::vector<JudgedRows>& kept,
                const std::map<Hash128, const Judgement*>& dropped,
                const std::vector<Hash128>& file_hashes, std::span<const Review> reviews) {
  for (const JudgedRows& judged : kept) {
    const auto drop = dropped.find(judged.judgement->images.front());
    if (drop == dropped.end()) continue;
    throw UsageError(place_of(*judged.judgement, reviews) + " says that " +
                     name_of(judged, judged.rows.front(), file_hashes) +
                     " represents its group, but " + place_of(*drop->second, reviews) +
                     " says that it is dropped; undo one of the two");
  }
}

// Checks whether sets of rows judged different contradict what is the same.
void check(const std::vector<JudgedRows>& apart, const std::vector<JudgedRows>& same,
           const UnionFind& equal, const std::vector<Hash128>& file_hashes,
           std::span<const Review> reviews) {
  UnionFind linked = equal;
  for (const JudgedRows& judged : same) unite_all(judged.rows, linked);
  for (const JudgedRows& judged : apart) {
    if (const auto two = two_linked(judged.rows, linked)) {
      refuse(judged, *two, same, equal, file_hashes, reviews);
    }
  }
}

// Keeps one row of those that are equal. Returns the number of removed rows.
std::size_t drop_equal(UnionFind& equal, RowList& rows) {
  std::set<std::uint32_t> met;
  return std::erase_if(rows,
                       [&](std::uint32_t row) { return !met.insert(equal.root_of(row)).second; });
}

// The rows of a judgement; for kDifferent the first row of each image. Empty if the table has too
// few of its images.
RowList rows_of(const Judgement& judgement, const RowsOfImages& rows) {
  const bool compares =
      judgement.verdict == Verdict::kDuplicate || judgement.verdict == Verdict::kDifferent;
  RowList all;
  std::size_t known = 0;
  for (const Hash128& image : judgement.images) {
    const RowList& of_image = rows[image];
    const bool first_only = judgement.verdict == Verdict::kDifferent && !of_image.empty();
    all.insert(all.end(), of_image.begin(), first_only ? of_image.begin() + 1 : of_image.end());
    known += of_image.empty() ? 0 : 1;
  }
  if (known < (compares ? 2U : 1U)) return {};
  std::ranges::sort(all);
  return all;
}

RowSets sets_of(const std::vector<JudgedRows>& judged) {
  RowSets sets;
  for (const JudgedRows& one : judged) sets.push_back(one.rows);
  return sets;
}

}  // namespace

Decided apply_to_rows(std::span<const Review> reviews, const ColumnSource& columns) {
  Decided decided;
  for (const Review& review : reviews) {
    decided.reviews.push_back(
        {std::filesystem::path(review.file).filename().string(), review.digest, 0});
  }
  const std::vector<Judgement> judgements = last_said(reviews);
  const std::vector<Hash128> file_hashes = columns({"file_hashes"}).file_hashes;
  const RowsOfImages rows(judgements, file_hashes);
  const bool compares =
      std::ranges::count(judgements, Verdict::kDifferent, &Judgement::verdict) > 0;
  UnionFind equal = compares ? equal_rows(columns, file_hashes) : UnionFind(0);
  std::vector<JudgedRows> same;
  std::vector<JudgedRows> apart;
  std::vector<JudgedRows> kept;
  std::map<Hash128, const Judgement*> dropped;
  for (const Judgement& judgement : judgements) {
    if (judgement.verdict == Verdict::kUnsure) continue;
    JudgedRows judged{&judgement, rows_of(judgement, rows)};
    if (judgement.verdict == Verdict::kDifferent) {
      decided.equal += drop_equal(equal, judged.rows);
      if (judged.rows.size() < 2) continue;
    }
    if (judged.rows.empty()) continue;
    ++decided.judgements;
    ++decided.reviews[judgement.review].judgements;
    if (judgement.about == About::kImage) {
      const bool drops = judgement.verdict == Verdict::kDrop;
      if (drops) dropped[judgement.images.front()] = &judgement;
      RowList& list = drops ? decided.dropped : decided.spared;
      list.insert(list.end(), judged.rows.begin(), judged.rows.end());
    } else if (judgement.verdict == Verdict::kKeep) {
      kept.push_back(std::move(judged));
    } else {
      (judgement.verdict == Verdict::kDuplicate ? same : apart).push_back(std::move(judged));
    }
  }
  decided.unknown = rows.unknown();
  if (!apart.empty()) check(apart, same, equal, file_hashes, reviews);
  check_kept(kept, dropped, file_hashes, reviews);
  std::ranges::sort(decided.spared);
  std::ranges::sort(decided.dropped);
  decided.same = sets_of(same);
  decided.apart = sets_of(apart);
  decided.kept = sets_of(kept);
  return decided;
}

std::vector<Edge> same_edges(const Decided& decided, std::span<const std::uint32_t> rows) {
  std::vector<Edge> edges;
  RowList here;
  for (const RowList& set : decided.same) {
    here.clear();
    std::ranges::copy_if(set, std::back_inserter(here),
                         [&](std::uint32_t row) { return std::ranges::binary_search(rows, row); });
    for (std::size_t i = 1; i < here.size(); ++i) edges.push_back({here[i - 1], here[i], 0});
  }
  return edges;
}

}  // namespace winnow::dedup
