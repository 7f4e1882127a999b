#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::dedup {

// Finds probable label errors by confident learning. Pure functions.
// Source  Northcutt, Jiang, Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels",
//         JAIR 70 (2021).

// The given labels of images, and predictions for these images by a model that was not trained on
// them.
struct JudgedLabels {
  std::span<const float> probabilities;  // shape (n, classes): a row for each image; none is NaN
  std::span<const std::int32_t> labels;  // given label of each of the n images, in [0, classes)
  std::size_t classes = 0;

  std::size_t size() const noexcept { return labels.size(); }
  std::span<const float> row(std::size_t image) const {
    return probabilities.subspan(image * classes, classes);
  }
};

// Throws UsageError unless sizes match, labels are in [0, classes) and probabilities are numbers.
void check_judged(const JudgedLabels& judged);

// The paper's thresholds t_j: for each class j the mean predicted probability of j over the images
// labelled j. Infinity if no image is.
std::vector<double> class_thresholds(const JudgedLabels& judged);

// Numbers of images by given label i and another class j, at counts[i * classes + j].
struct LabelCounts {
  std::size_t classes = 0;
  std::vector<std::uint64_t> counts;

  std::uint64_t at(std::size_t given, std::size_t other) const {
    return counts[given * classes + other];
  }
};

// The paper's confident joint C[i][j]: the number of images labelled i whose likely class is j. The
// likely class of an image is the most probable of those whose probability reaches
// class_thresholds(). Images without one are not counted.
LabelCounts confident_joint(const JudgedLabels& judged);

// Scales the confident joint such that row i sums to the number of images labelled i: an estimate
// for all images. Rounded by the largest-remainder method.
LabelCounts calibrated(const LabelCounts& joint, const JudgedLabels& judged);

// How many and which images are selected as suspects, by the paper's names.
enum class Prune : std::uint8_t {
  kConfidentJoint,  // images counted off the diagonal of the confident joint
  // Suspects: for each label i, as many images as the calibrated joint has off the diagonal of row
  // i: those with the lowest probability of i.
  kClass,
  // Suspects: for each pair (i, j), as many images as the calibrated joint has there: of the images
  // labelled i those with the largest p_j - p_i.
  kNoiseRate,
  kBoth,  // images selected by both kClass and kNoiseRate
};
struct PruneRow {
  Prune prune;
  std::string_view name;
  std::string_view what;
};
std::span<const PruneRow> prunings();
// The way of this name to select suspects. Throws UsageError, which lists the known names.
Prune parse_prune(std::string_view name);

// The score that suspects are sorted by, from p(given), the probability of the given label, and
// p(likely), that of the likely class. Below 0.5 for all suspects.
enum class SuspectOrder : std::uint8_t {
  kRatio,   // p(given) / (p(given) + p(likely)): as if only these two classes existed
  kMargin,  // (1 + p(given) - p(likely)) / 2: the normalised margin of the paper
  kOwn,     // p(given): called self-confidence in the paper
};
struct SuspectOrderRow {
  SuspectOrder order;
  std::string_view name;
  std::string_view what;
};
std::span<const SuspectOrderRow> suspect_orders();
// The order of this name. Throws UsageError, which lists the known names.
SuspectOrder parse_suspect_order(std::string_view name);

struct LabelSuspect {
  std::uint32_t image = 0;  // row of JudgedLabels
  std::int32_t likely = 0;  // most probable class other than the given label
  float score = 0;          // 0, the worst, to 0.5
};

// Finds images whose labels are probably wrong. Sorted by ascending score, then by image. Never
// contains an image whose given label is its most probable class.
std::vector<LabelSuspect> find_label_suspects(const JudgedLabels& judged, Prune prune,
                                              SuspectOrder order = SuspectOrder::kRatio);

}  // namespace winnow::dedup
