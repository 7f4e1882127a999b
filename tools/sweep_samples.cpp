#include "tools/sweep_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "dedup/hash/hashes.h"
#include "dedup/settings.h"
#include "dedup/split/split.h"
#include "dedup/sweep/trim.h"
#include "dedup/tune/curve.h"
#include "tools/compared.h"
#include "tools/dedup_search.h"

namespace winnow::tools {
namespace {

using dedup::Selection;

// The same columns with some splits changed.
dedup::ColumnSource with_splits(const dedup::ColumnSource& columns,
                                const std::function<Split(std::size_t row, Split own)>& split_of) {
  return [columns, split_of](const dedup::ColumnNames& names) {
    dedup::Fingerprints table = columns(names);
    for (std::size_t row = 0; row < table.splits.size(); ++row) {
      table.splits[row] = split_of(row, table.splits[row]);
    }
    return table;
  };
}

Selection hold_out(double share, const dedup::Options& duplicates, const dedup::LinkSource& links,
                   const dedup::ColumnSource& columns) {
  const dedup::SplitOptions how{.hash = duplicates.hash,
                                .threshold = duplicates.threshold,
                                .chosen_by = duplicates.chosen_by,
                                .shares = {0, 1 - share, share, 0},
                                .of = {false, true, false, false},
                                .matching = duplicates.matching};
  const auto without_test = [](std::size_t, Split own) {
    return own == Split::kTest ? Split::kNone : own;
  };
  const dedup::ColumnSource apart = with_splits(columns, without_test);
  Selection base = dedup::make_splits(apart, how, links).selection;
  if (base.splits.empty()) base.splits = apart({"splits"}).splits;
  return base;
}

// What training obeys of a selection: of two that differ in nothing else one is trained on.
Selection effect_of(Selection selection) {
  selection.settings.clear();
  std::ranges::fill(selection.distances, std::uint16_t{0});
  if (dedup::count_thinned(selection) == 0) selection.mode = dedup::SelectionMode::kKeep;
  if (selection.mode == dedup::SelectionMode::kKeep) selection.kept = selection.ids;
  return selection;
}

// The bits that what is thinned lies apart, at most, as far as they are within the threshold: what
// a chain of links joins may be further apart.
int furthest(const Selection& selection, int threshold) {
  int most = 0;
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (selection.rules[row] == dedup::Rule::kDuplicate) {
      most = std::max(most, int{selection.distances[row]});
    }
  }
  return std::min(most, threshold);
}

}  // namespace

SweepSamples::SweepSamples(const pipeline::Cache& cache, double holdout,
                           const dedup::SharedWork& work, const Session& session)
    : cache_(cache),
      columns_(stoppable(cache.open_fingerprints(), session)),
      search_(work.links),
      table_(columns_({"splits", "labels"})) {
  dedup::Options how{.scope = dedup::Scope::kWithin};
  dedup::ColumnSource columns = columns_;
  const dedup::ToldLinks links =
      settle_links(session, {}, {}, {cache, pipeline::pictures_of(cache)}, work, columns, how);
  base_ = hold_out(holdout, how, links.source, columns);
  duplicates_ = dedup::deduplicate(columns, how, links.source).selection.components;
  count();
}

SweepSamples::SweepSamples(const pipeline::Cache& cache, const CutHoldOut& cut,
                           const dedup::SharedWork& work, const Session& session)
    : cache_(cache),
      columns_(stoppable(cache.open_fingerprints(), session)),
      search_(work.links),
      table_(columns_({"splits", "labels"})),
      base_(cache.read_selection(cut.base)),
      duplicates_(cache.read_selection(cut.test).components) {
  count();
}

void SweepSamples::count() {
  for (std::size_t row = 0; row < base_.size(); ++row) {
    training_ += trains(row) ? 1 : 0;
    held_out_ += base_.splits[row] == Split::kVal ? 1 : 0;
  }
}

Selection SweepSamples::thin_by(const dedup::SweepPoint& point, int threshold) const {
  const dedup::ColumnSource of_train = with_splits(
      columns_, [&](std::size_t row, Split) { return trains(row) ? Split::kTrain : Split::kNone; });
  const dedup::Options how{.hash = point.hash,
                           .threshold = threshold,
                           .scope = dedup::Scope::kWithin,
                           .policy = {.keep = point.keep, .mode = point.mode}};
  const Selection thinned = dedup::deduplicate(of_train, how, search_).selection;
  Selection out = base_;
  out.mode = thinned.mode;
  out.settings = dedup::settings_of(how, std::nullopt);
  for (std::size_t row = 0; row < out.size(); ++row) {
    if (!trains(row)) continue;
    out.weights[row] = thinned.weights[row];
    out.kept[row] = thinned.kept[row];
    out.distances[row] = thinned.distances[row];
    out.rules[row] = thinned.rules[row];
  }
  return out;
}

// Training samples that a hash tells something of, whatever the threshold.
std::uint64_t SweepSamples::matchable(const std::string& hash) const {
  std::uint64_t count = 0;
  for (const std::uint32_t row : dedup::matchable_rows(columns_({"quality"}), hash)) {
    count += trains(row) ? 1 : 0;
  }
  return count;
}

ThinnedPoint SweepSamples::thin(const dedup::SweepPoint& point) const {
  if (!point.thins()) return {.selection = base_};
  if (point.threshold) {
    Selection thinned = thin_by(point, *point.threshold);
    return {.selection = std::move(thinned), .bits = point.threshold};
  }
  const auto wanted =
      static_cast<std::uint64_t>(*point.removed * static_cast<double>(training_) + 0.5);
  const int bits = dedup::find_hash(point.hash).row->bits;
  const std::uint64_t able = matchable(point.hash);
  std::uint64_t most = 0;
  // Upwards, as each search costs more than the one before.
  for (int threshold = 0; threshold <= bits / 2; threshold += std::max(1, bits / 32)) {
    const Selection thinned = thin_by(point, threshold);
    most = dedup::count_thinned(thinned);
    if (most >= wanted) {
      Selection trimmed = dedup::trim(thinned, wanted, /*seed=*/0);
      const int apart = furthest(trimmed, threshold);
      return {.selection = std::move(trimmed), .bits = apart};
    }
    if (most + able < wanted) {  // equal images, and those that codes tell something of
      most += able;
      break;
    }
  }
  throw UsageError(fmt::format(
      "{} cannot remove {:.4g} % of the training samples: {:.4g} % at most; give a smaller "
      "--removed, or another --hash",
      point.hash, 100 * *point.removed,
      100 * static_cast<double>(most) / static_cast<double>(training_)));
}

dedup::Remains SweepSamples::remains_of(const Selection& selection) const {
  return dedup::remains_of(selection, table_, duplicates_);
}

std::vector<std::optional<double>> SweepSamples::precisions(const std::string& hash,
                                                            int bits) const {
  std::vector<std::optional<double>> out;
  const dedup::CurveOptions how{.hash = hash, .most = bits, .links = search_};
  for (const dedup::CurvePoint& point : dedup::measure_curve(columns_, how).points) {
    out.push_back(point.precision);
  }
  return out;
}

std::string SweepSamples::keep(Selection selection, bool estimates) const {
  selection.name.clear();
  selection.cache_digest.clear();
  selection.name = "sweep-" + to_hex(xxh3_64(dedup::serialize(effect_of(selection))));
  selection.cache_digest = cache_.digest();
  const std::vector<std::string> known = cache_.selections();
  if (!estimates && std::ranges::find(known, selection.name) == known.end()) {
    cache_.write_selection(selection);
  }
  return selection.name;
}

SweepTest SweepSamples::keep_test(bool estimates) const {
  Selection selection = base_;
  selection.components = duplicates_;
  SweepTest test{.leaked = remains_of(base_).leaks};
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (table_.splits[row] == Split::kTest) {
      selection.splits[row] = Split::kTest;
      ++test.images;
    } else if (!trains(row)) {
      selection.splits[row] = Split::kNone;  // what is not trained on gives nothing away
    }
  }
  test.selection = keep(std::move(selection), estimates);
  return test;
}

}  // namespace winnow::tools
