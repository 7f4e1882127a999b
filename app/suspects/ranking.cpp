#include "app/suspects/ranking.h"

#include <algorithm>
#include <map>
#include <span>

#include "common/error.h"
#include "common/json.h"
#include "common/utf8.h"
#include "dedup/features/outliers.h"
#include "dedup/labels/votes.h"
#include "dedup/lists/list.h"

namespace winnow::app {
namespace {

// The rows of the table with these ids, both ascending.
std::vector<std::uint32_t> rows_with(std::span<const SampleId> ids,
                                     const dedup::Fingerprints& table) {
  std::vector<std::uint32_t> rows;
  for (const SampleId id : ids) {
    const auto at = std::ranges::lower_bound(table.ids, id);
    if (at == table.ids.end() || *at != id) {
      throw UsageError("image " + std::to_string(id) + " is not in the cache");
    }
    rows.push_back(static_cast<std::uint32_t>(at - table.ids.begin()));
  }
  return rows;
}

// The label of each of these rows; -1: none.
std::vector<std::int32_t> labels_of(std::span<const std::uint32_t> rows,
                                    const dedup::Fingerprints& table) {
  std::vector<std::int32_t> labels;
  for (const std::uint32_t row : rows) {
    const auto carried = table.labels[row];
    if (carried.size() > 1) {
      throw UsageError(
          "an image has several labels; label errors are only found for images with one label");
    }
    labels.push_back(carried.empty() ? -1 : carried.front());
  }
  return labels;
}

// `rows`: row of each image of `judged`.
void add_label_suspects(const dedup::JudgedLabels& judged, std::span<const std::uint32_t> rows,
                        dedup::Issue issue, const SuspectOptions& options, Suspects& found) {
  dedup::check_judged(judged);
  found.judged = judged.size();
  const dedup::LabelCounts counts = calibrated(confident_joint(judged), judged);
  std::uint64_t right = 0;
  for (std::size_t label = 0; label < judged.classes; ++label) right += counts.at(label, label);
  if (judged.size() > 0) {
    found.label_noise = 1 - static_cast<double>(right) / static_cast<double>(judged.size());
  }
  for (const auto& one : dedup::find_label_suspects(judged, options.prune, options.order)) {
    found.list.push_back({rows[one.image], issue, one.likely, one.score});
  }
}

// Skips images without a label. `rows`: row of each image of `all`.
void judge_labelled(const dedup::JudgedLabels& all, std::span<const std::uint32_t> rows,
                    dedup::Issue issue, const SuspectOptions& options, Suspects& found) {
  if (std::ranges::none_of(all.labels, [](std::int32_t label) { return label < 0; })) {
    add_label_suspects(all, rows, issue, options, found);
    return;
  }
  std::vector<float> shares;
  std::vector<std::uint32_t> judged_rows;
  std::vector<std::int32_t> judged_labels;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (all.labels[i] < 0) continue;
    const auto row = all.row(i);
    shares.insert(shares.end(), row.begin(), row.end());
    judged_rows.push_back(rows[i]);
    judged_labels.push_back(all.labels[i]);
  }
  add_label_suspects({shares, judged_labels, all.classes}, judged_rows, issue, options, found);
}

void add_outliers(const std::vector<float>& distances, std::span<const std::uint32_t> rows,
                  double below, Suspects& found) {
  const std::vector<float> scores = outlier_scores_of(distances);
  std::vector<Suspect> outliers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float score = scores[i];
    if (score < below) outliers.push_back({rows[i], dedup::Issue::kOutlier, -1, score});
  }
  std::ranges::stable_sort(outliers, {}, &Suspect::score);
  found.list.insert(found.list.end(), outliers.begin(), outliers.end());
}

}  // namespace

std::vector<float> outlier_scores_of(const std::vector<float>& distances) {
  if (distances.empty()) return {};
  std::vector<float> sorted = distances;
  std::ranges::sort(sorted);
  const auto quartile = [&](std::size_t which) { return sorted[which * (sorted.size() - 1) / 4]; };
  const float median = quartile(2);
  const float far = quartile(3) + 3 * (quartile(3) - quartile(1)) - median;
  std::vector<float> scores;
  for (const float distance : distances) {
    const float beyond = std::max(distance - median, 0.0F);
    scores.push_back(beyond > 0 ? far / (far + beyond) : 1);
  }
  return scores;
}

Suspects suspects_of(const train::OutOfFold& predicted, const dedup::Fingerprints& table,
                     const SuspectOptions& options) {
  const std::vector<std::uint32_t> rows = rows_with(predicted.ids, table);
  const std::vector<std::int32_t> labels = labels_of(rows, table);
  Suspects found;
  judge_labelled({predicted.probabilities, labels, predicted.classes.size()}, rows,
                 dedup::Issue::kLabelError, options, found);
  return found;
}

Suspects suspects_of(const dedup::FeatureTable& features, const dedup::Fingerprints& table,
                     std::size_t classes, const SuspectOptions& options,
                     const dedup::NeighbourOptions& search) {
  const std::vector<std::uint32_t> rows = rows_with(features.ids, table);
  std::vector<std::int32_t> labels;
  if (classes > 0) labels = labels_of(rows, table);
  const dedup::FeatureIndex index(features);
  const dedup::NearestRows nearest = dedup::nearest_rows(index, options.neighbours, search);
  Suspects found;
  if (classes > 0) {
    const std::vector<float> shares = dedup::neighbour_votes(nearest, labels, classes);
    judge_labelled({shares, labels, classes}, rows, dedup::Issue::kLabelOfNeighbours, options,
                   found);
  }
  add_outliers(dedup::outlier_distances(nearest, index.vectors(), labels, classes), rows,
               options.outlier_score, found);
  return found;
}

void keep_first(std::size_t count, std::vector<Suspect>& list) {
  std::map<dedup::Issue, std::size_t> seen;
  std::erase_if(list, [&](const Suspect& suspect) { return ++seen[suspect.issue] > count; });
}

std::string SuspectWords::label(std::uint32_t row) const {
  const auto labels = table.labels[row];
  return labels.empty() ? "" : classes.at(static_cast<std::size_t>(labels.front()));
}

std::string SuspectWords::likely(const Suspect& suspect) const {
  return suspect.likely < 0 ? "" : classes.at(static_cast<std::size_t>(suspect.likely));
}

void list_suspects(const std::vector<Suspect>& list, const SuspectWords& words,
                   dedup::ListForm form, const dedup::TextSink& out) {
  dedup::List lines({"id", "name", "split", "label", "likely", "issue", "score"}, form, out);
  for (const Suspect& suspect : list) {
    const SampleId id = words.table.ids[suspect.row];
    lines.put({id, to_utf8(words.name_of(id)), split_name(words.table.splits[suspect.row]),
               to_utf8(words.label(suspect.row)), to_utf8(words.likely(suspect)),
               dedup::row_of(suspect.issue).name, dedup::rounded_score(suspect.score)});
  }
}

}  // namespace winnow::app
