#include "app/sweep/sweep_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "app/dedup/compared.h"
#include "app/dedup/search.h"
#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "dedup/decisions/settings.h"
#include "dedup/hash/hashes.h"
#include "dedup/split/split.h"
#include "dedup/sweep/nearest.h"
#include "dedup/sweep/trim.h"
#include "dedup/tune/curve.h"
#include "dedup/verify/best_order.h"

namespace winnow::app {
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

// The part of a selection that affects training. Of selections that are equal in it, one is trained
// on.
Selection effect_of(Selection selection) {
  selection.settings.clear();
  std::ranges::fill(selection.distances, std::uint16_t{0});
  if (dedup::count_thinned(selection) == 0) selection.mode = dedup::SelectionMode::kKeep;
  if (selection.mode == dedup::SelectionMode::kKeep) selection.kept = selection.ids;
  return selection;
}

// The pairs stored in a file; nullopt: there is no file.
std::optional<dedup::VerifiedPairs> read_pairs(const std::filesystem::path& file,
                                               const pipeline::Cache& cache) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  dedup::VerifiedPairs pairs = dedup::read_verified_pairs(file);
  if (pairs.cache_digest == cache.digest()) return pairs;
  throw FormatError(
      file.string() +
      " was made for another cache; remove this file to compare the pictures of this cache");
}

// By threshold.
std::vector<std::optional<double>> precisions_of(const dedup::ColumnSource& columns,
                                                 const dedup::CurveOptions& how) {
  std::vector<std::optional<double>> out;
  for (const dedup::CurvePoint& point : dedup::measure_curve(columns, how).points) {
    out.push_back(point.precision);
  }
  return out;
}

// The order of preference that dedup uses.
std::shared_ptr<const dedup::PreferredOrder> best_of(const pipeline::Cache& cache,
                                                     const dedup::ColumnSource& columns,
                                                     const dedup::LinksWithEvidence& links,
                                                     const dedup::SearchOptions& search) {
  const Images images = images_of(cache, pipeline::pictures_of(cache));
  const auto closer = closer_pictures(images.picture_of, columns);
  return dedup::best_order(columns, images.thumbnails, *links.verified,
                           {.closer = closer, .search = search});
}

}  // namespace

SweepSamples::SweepSamples(const pipeline::Cache& cache, const SweepSampling& how,
                           const dedup::SharedWork& work, const Session& session)
    : cache_(cache),
      columns_(stoppable(cache.open_fingerprints(), session)),
      search_how_(search_options(session)),
      search_(work.links),
      table_(columns_({"splits", "labels"})) {
  if (how.verify || !how.cut) pairs_ = read_pairs(how.pairs, cache);
  if (how.cut) {
    base_ = cache.read_selection(how.cut->base);
    base_groups_ = groups_beside(session, cache, base_);
    Selection test = cache.read_selection(how.cut->test);
    duplicate_groups_ = groups_beside(session, cache, test);
    duplicates_ = std::move(test.components);
  }
  if (!how.cut || (how.verify && !pairs_)) compare(how, work, session);
  count();
}

dedup::LinksWithEvidence SweepSamples::links_by_pictures() const {
  auto verified = dedup::verified_of(*pairs_, table_.ids);
  return {dedup::links_of(verified), verified};
}

// Compares the pictures that are not compared yet.
void SweepSamples::compare(const SweepSampling& how, const dedup::SharedWork& work,
                           const Session& session) {
  dedup::Options options{.policy = {.keep = dedup::KeepPolicy::kFirst}};  // no image is chosen here
  dedup::LinksWithEvidence links;
  if (pairs_) {
    options = dedup::options_of(*pairs_);
  } else {
    ChoiceOptions choice;
    if (how.verify) choice.verify = true;
    dedup::ColumnSource columns = columns_;
    links = settle_links(session, {choice}, images_of(cache_, pipeline::pictures_of(cache_)), work,
                         columns, options);
    if (links.verified) {
      pairs_ = dedup::pairs_of(*links.verified, options, table_.ids);
      pairs_->cache_digest = cache_.digest();
      dedup::write_verified_pairs(how.pairs, *pairs_);
    }
  }
  if (how.cut) return;
  if (pairs_) links = links_by_pictures();
  options.scope = dedup::Scope::kWithin;
  base_ = hold_out(how.holdout, options, links.source, columns_);
  duplicates_ = dedup::deduplicate(columns_, options, links.source).selection.components;
  const dedup::ComparedBy by{
      .hash = options.hash, .threshold = options.threshold, .verified = links.verified.get()};
  base_groups_ = dedup::components_with_evidence(base_, columns_, by);
  Selection test = base_;
  test.components = duplicates_;
  duplicate_groups_ = dedup::components_with_evidence(test, columns_, by);
}

void SweepSamples::count() {
  for (std::size_t row = 0; row < base_.size(); ++row) {
    training_ += trains(row) ? 1 : 0;
    held_out_ += base_.splits[row] == Split::kVal ? 1 : 0;
  }
}

// `how`: what is compared, and the threshold.
ThinnedPoint SweepSamples::thin_by(dedup::Options how, const dedup::SweepPoint& point,
                                   const dedup::LinksWithEvidence& links) const {
  const dedup::ColumnSource of_train = with_splits(
      columns_, [&](std::size_t row, Split) { return trains(row) ? Split::kTrain : Split::kNone; });
  how.scope = dedup::Scope::kWithin;
  how.policy = {
      .keep = point.keep, .mode = point.mode, .preferred = links.verified ? preferred_ : nullptr};
  dedup::Result found = dedup::deduplicate(of_train, how, links.source);
  const Selection& thinned = found.selection;
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
  return {.selection = std::move(out),
          .groups = dedup::groups_with_evidence(std::move(found.groups), links.verified.get())};
}

// A spanning forest of the links between training samples, nearest first. The links of a smaller
// threshold are the first of these.
std::vector<dedup::Edge> SweepSamples::nearest_links(const std::string& hash, int threshold) const {
  std::vector<std::uint32_t> rows = dedup::matchable_rows(columns_({"quality"}), hash);
  std::erase_if(rows, [&](std::uint32_t row) { return !trains(row); });
  dedup::NearestLinks nearest(table_.ids, /*seed=*/0);
  dedup::find_links(columns_({"codes:" + hash}), {.hash = hash, .threshold = threshold}, search_,
                    rows, [&](std::span<const dedup::Edge> links) { nearest.add(links); });
  return std::move(nearest).finish();
}

// Number of training samples with a usable code of a hash, whatever the threshold.
std::uint64_t SweepSamples::matchable(const std::string& hash) const {
  std::uint64_t count = 0;
  for (const std::uint32_t row : dedup::matchable_rows(columns_({"quality"}), hash)) {
    count += trains(row) ? 1 : 0;
  }
  return count;
}

ThinnedPoint SweepSamples::thin(const dedup::SweepPoint& point) {
  if (!point.thins()) return {.selection = base_, .groups = base_groups_};
  if (point.by_pictures()) {
    const dedup::LinksWithEvidence links = links_by_pictures();
    const bool by_best = point.keep == dedup::KeepPolicy::kBest;
    if (by_best && !preferred_) preferred_ = best_of(cache_, columns_, links, search_how_);
    return thin_by(dedup::options_of(*pairs_), point, links);
  }
  if (!point.threshold) return thin_share(point, *point.removed);
  ThinnedPoint thinned =
      thin_by({.hash = point.hash, .threshold = *point.threshold}, point, {search_});
  thinned.bits = point.threshold;
  return thinned;
}

ThinnedPoint SweepSamples::thin_share(const dedup::SweepPoint& point, double share) {
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(training_) + 0.5);
  const int bits = dedup::find_hash(point.hash).row->bits;
  const std::uint64_t able = matchable(point.hash);
  auto& [links, next] = searched_[point.hash];
  const auto thin_by_first = [&](std::size_t count) {
    const int within = count == 0 ? 0 : static_cast<int>(links[count - 1].distance);
    ThinnedPoint thinned = thin_by({.hash = point.hash, .threshold = within}, point,
                                   {dedup::links_of(std::span(links).first(count))});
    thinned.bits = within;
    return thinned;
  };
  std::uint64_t most = dedup::count_thinned(thin_by_first(links.size()).selection);
  // The threshold grows, because each search costs more than the one before. Besides equal images,
  // at most the images with usable codes can be removed.
  while (most < wanted && most + able >= wanted && next <= bits / 2) {
    links = nearest_links(point.hash, next);
    next += std::max(1, bits / 32);
    most = dedup::count_thinned(thin_by_first(links.size()).selection);
  }
  if (most < wanted) {
    if (most + able < wanted) most += able;
    throw UsageError(fmt::format(
        "{} cannot remove {:.4g} % of the training samples: {:.4g} % at most; give a smaller "
        "--removed, or another --hash",
        point.hash, 100 * share, 100 * static_cast<double>(most) / static_cast<double>(training_)));
  }
  std::size_t count = 0;
  ThinnedPoint thinned = thin_by_first(count);  // by equal files and pixels
  // A link removes one sample, or none if equal files or pixels connect the same samples.
  while (dedup::count_thinned(thinned.selection) < wanted) {
    count += wanted - dedup::count_thinned(thinned.selection);
    thinned = thin_by_first(count);
  }
  thinned.selection = dedup::trim(thinned.selection, wanted, /*seed=*/0);
  return thinned;
}

dedup::Remains SweepSamples::remains_of(const Selection& selection) const {
  return dedup::remains_of(selection, table_, duplicates_);
}

std::vector<std::optional<double>> SweepSamples::precisions(const std::string& hash,
                                                            int bits) const {
  return precisions_of(columns_, {.hash = hash, .most = bits, .links = search_});
}

std::optional<double> SweepSamples::precision_by_pictures() const { return pairs_->precision(); }

std::string SweepSamples::keep(Selection selection,
                               const std::optional<dedup::GroupsWithEvidence>& groups,
                               bool estimates) const {
  selection.name.clear();
  selection.cache_digest.clear();
  selection.name = "sweep-" + to_hex(xxh3_64(dedup::serialize(effect_of(selection))));
  selection.cache_digest = cache_.digest();
  const std::vector<std::string> known = cache_.selections();
  if (!estimates && std::ranges::find(known, selection.name) == known.end()) {
    cache_.write_selection(selection, groups ? &*groups : nullptr);
  }
  return selection.name;
}

SweepTest SweepSamples::keep_test() const {
  Selection selection = base_;
  selection.components = duplicates_;
  SweepTest test{.leaked = remains_of(base_).leaks};
  for (std::size_t row = 0; row < selection.size(); ++row) {
    if (table_.splits[row] == Split::kTest) {
      selection.splits[row] = Split::kTest;
      ++test.images;
    } else if (!trains(row)) {
      selection.splits[row] = Split::kNone;  // only leaks of training samples count
    }
  }
  test.selection = keep(std::move(selection), duplicate_groups_, false);
  return test;
}

}  // namespace winnow::app
