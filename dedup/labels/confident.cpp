#include "dedup/labels/confident.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "common/row_called.h"

namespace winnow::dedup {
namespace {

// By rounding, a mean of equal numbers may exceed them.
constexpr double kRounding = 1e-9;

constexpr std::array kPrunings{
    PruneRow{
        Prune::kNoiseRate, "noise_rate",
        "for each pair of classes, the estimated number of swapped labels, most certain first"},
    PruneRow{Prune::kClass, "class",
             "for each class, the estimated number of wrong labels, least probable first"},
    PruneRow{Prune::kBoth, "both", "images that both noise_rate and class list"},
    PruneRow{Prune::kConfidentJoint, "confident_joint",
             "all images that are confidently of another class"},
};

constexpr std::array kOrders{
    SuspectOrderRow{SuspectOrder::kRatio, "ratio", "p(given) / (p(given) + p(likely))"},
    SuspectOrderRow{SuspectOrder::kMargin, "margin", "(1 + p(given) - p(likely)) / 2"},
    SuspectOrderRow{SuspectOrder::kOwn, "own", "p(given)"},
};

// Images by label: those of label i are images[begins[i] .. begins[i + 1]), ascending.
struct ByLabel {
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> images;

  explicit ByLabel(const JudgedLabels& judged) : begins(judged.classes + 1), images(judged.size()) {
    for (const std::int32_t label : judged.labels) ++begins[static_cast<std::size_t>(label) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (std::uint32_t image = 0; image < judged.size(); ++image) {
      images[next[static_cast<std::size_t>(judged.labels[image])]++] = image;
    }
  }
  std::span<const std::uint32_t> operator[](std::size_t label) const {
    return std::span(images).subspan(begins[label], begins[label + 1] - begins[label]);
  }
};

// The confident class of an image; -1: none.
std::int32_t confident_class(std::span<const float> row, const std::vector<double>& thresholds) {
  std::int32_t best = -1;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (double{row[j]} + kRounding < thresholds[j]) continue;
    if (best < 0 || row[j] > row[static_cast<std::size_t>(best)]) best = static_cast<int>(j);
  }
  return best;
}

// Marks the `count` images with the smallest keys; ties go to the first.
template <class Key>
void mark_smallest(std::span<const std::uint32_t> images, std::uint64_t count, const Key& key,
                   std::vector<bool>& marked) {
  count = std::min<std::uint64_t>(count, images.size());
  std::vector<std::uint32_t> order(images.begin(), images.end());
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(order.begin(), end, order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(key(a), a) < std::pair(key(b), b);
  });
  std::for_each(order.begin(), end, [&](std::uint32_t image) { marked[image] = true; });
}

std::vector<bool> by_confident_joint(const JudgedLabels& judged) {
  const std::vector<double> thresholds = class_thresholds(judged);
  std::vector<bool> marked(judged.size());
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const std::int32_t found = confident_class(judged.row(i), thresholds);
    marked[i] = found >= 0 && found != judged.labels[i];
  }
  return marked;
}

std::vector<bool> by_class(const JudgedLabels& judged, const LabelCounts& counts) {
  const ByLabel images(judged);
  std::vector<bool> marked(judged.size());
  for (std::size_t label = 0; label < judged.classes; ++label) {
    const auto own = [&](std::uint32_t image) { return judged.row(image)[label]; };
    mark_smallest(images[label], images[label].size() - counts.at(label, label), own, marked);
  }
  return marked;
}

std::vector<bool> by_noise_rate(const JudgedLabels& judged, const LabelCounts& counts) {
  const ByLabel images(judged);
  std::vector<bool> marked(judged.size());
  for (std::size_t i = 0; i < judged.classes; ++i) {
    for (std::size_t j = 0; j < judged.classes; ++j) {
      if (i == j || counts.at(i, j) == 0) continue;
      const auto margin = [&](std::uint32_t image) {
        return judged.row(image)[i] - judged.row(image)[j];
      };
      mark_smallest(images[i], counts.at(i, j), margin, marked);
    }
  }
  return marked;
}

std::vector<bool> pruned(const JudgedLabels& judged, Prune prune) {
  if (prune == Prune::kConfidentJoint) return by_confident_joint(judged);
  const LabelCounts counts = calibrated(confident_joint(judged), judged);
  if (prune == Prune::kClass) return by_class(judged, counts);
  std::vector<bool> marked = by_noise_rate(judged, counts);
  if (prune == Prune::kNoiseRate) return marked;
  const std::vector<bool> also = by_class(judged, counts);
  for (std::size_t i = 0; i < marked.size(); ++i) marked[i] = marked[i] && also[i];
  return marked;
}

float score_of(float given, float likely, SuspectOrder order) {
  switch (order) {
    case SuspectOrder::kRatio:
      return given / (given + likely);
    case SuspectOrder::kMargin:
      return (1 + given - likely) / 2;
    case SuspectOrder::kOwn:
      break;
  }
  return given;
}

// The most probable class other than the given one; the given one if there is no other.
std::size_t likely_class(std::span<const float> row, std::size_t given) {
  std::size_t likely = given == 0 && row.size() > 1 ? 1 : 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (j != given && row[j] > row[likely]) likely = j;
  }
  return likely;
}

}  // namespace

void check_judged(const JudgedLabels& judged) {
  if (judged.classes == 0 || judged.probabilities.size() != judged.size() * judged.classes) {
    throw UsageError("there are " + std::to_string(judged.probabilities.size()) +
                     " probabilities for " + std::to_string(judged.size()) + " images and " +
                     std::to_string(judged.classes) + " classes");
  }
  const auto is_class = [&](std::int32_t label) {
    return label >= 0 && static_cast<std::size_t>(label) < judged.classes;
  };
  if (!std::ranges::all_of(judged.labels, is_class)) {
    throw UsageError("an image has a label that is not one of the classes");
  }
  if (std::ranges::any_of(judged.probabilities, [](float p) { return !std::isfinite(p); })) {
    throw UsageError("a probability is not a number");
  }
}

std::vector<double> class_thresholds(const JudgedLabels& judged) {
  std::vector<double> sums(judged.classes);
  std::vector<std::uint64_t> counts(judged.classes);
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const auto label = static_cast<std::size_t>(judged.labels[i]);
    sums[label] += double{judged.row(i)[label]};
    ++counts[label];
  }
  for (std::size_t j = 0; j < sums.size(); ++j) {
    sums[j] = counts[j] > 0 ? sums[j] / static_cast<double>(counts[j])
                            : std::numeric_limits<double>::infinity();
  }
  return sums;
}

LabelCounts confident_joint(const JudgedLabels& judged) {
  const std::vector<double> thresholds = class_thresholds(judged);
  LabelCounts joint{judged.classes, std::vector<std::uint64_t>(judged.classes * judged.classes)};
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const std::int32_t found = confident_class(judged.row(i), thresholds);
    if (found < 0) continue;
    ++joint.counts[static_cast<std::size_t>(judged.labels[i]) * judged.classes +
                   static_cast<std::size_t>(found)];
  }
  return joint;
}

LabelCounts calibrated(const LabelCounts& joint, const JudgedLabels& judged) {
  const std::size_t classes = joint.classes;
  std::vector<std::uint64_t> images(classes);
  for (const std::int32_t label : judged.labels) ++images[static_cast<std::size_t>(label)];
  LabelCounts scaled{classes, std::vector<std::uint64_t>(classes * classes)};
  std::vector<std::uint32_t> order(classes);
  std::vector<double> remainders(classes);
  for (std::size_t i = 0; i < classes; ++i) {
    const auto row = std::span(joint.counts).subspan(i * classes, classes);
    const std::uint64_t sum = std::accumulate(row.begin(), row.end(), std::uint64_t{0});
    if (sum == 0) {  // there are no predictions for these images
      scaled.counts[i * classes + i] = images[i];
      continue;
    }
    std::uint64_t left = images[i];
    for (std::size_t j = 0; j < classes; ++j) {
      const double exact =
          static_cast<double>(row[j]) * static_cast<double>(images[i]) / static_cast<double>(sum);
      const double whole = std::floor(exact);
      scaled.counts[i * classes + j] = static_cast<std::uint64_t>(whole);
      remainders[j] = exact - whole;
      left -= static_cast<std::uint64_t>(whole);
    }
    std::iota(order.rbegin(), order.rend(),
              std::uint32_t{0});  // ties go to the last one, as in cleanlab
    std::ranges::stable_sort(order, std::ranges::greater{},
                             [&](std::uint32_t j) { return remainders[j]; });
    for (std::size_t k = 0; k < left; ++k) ++scaled.counts[i * classes + order[k]];
  }
  return scaled;
}

std::span<const PruneRow> prunings() { return kPrunings; }

Prune parse_prune(std::string_view name) {
  return row_called("there is no way to list label errors", name, prunings()).prune;
}

std::span<const SuspectOrderRow> suspect_orders() { return kOrders; }

SuspectOrder parse_suspect_order(std::string_view name) {
  return row_called("there is no order", name, suspect_orders()).order;
}

std::vector<LabelSuspect> find_label_suspects(const JudgedLabels& judged, Prune prune,
                                              SuspectOrder order) {
  check_judged(judged);
  const std::vector<bool> marked = pruned(judged, prune);
  std::vector<LabelSuspect> suspects;
  for (std::uint32_t image = 0; image < judged.size(); ++image) {
    if (!marked[image]) continue;
    const std::span<const float> row = judged.row(image);
    const auto given = static_cast<std::size_t>(judged.labels[image]);
    const std::size_t likely = likely_class(row, given);
    if (row[given] >= row[likely]) continue;
    suspects.push_back(
        {image, static_cast<std::int32_t>(likely), score_of(row[given], row[likely], order)});
  }
  std::ranges::stable_sort(suspects, {}, &LabelSuspect::score);
  return suspects;
}

}  // namespace winnow::dedup
