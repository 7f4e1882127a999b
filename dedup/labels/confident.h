#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::dedup {

// Probable label errors by confident learning. Pure functions.
// Source  Northcutt, Jiang, Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels",
//         JAIR 70 (2021).

// Predictions of a model for images it was not trained on, and the given labels.
struct JudgedLabels {
  std::span<const float> probabilities;  // (n, classes), one row an image; none is NaN
  std::span<const std::int32_t> labels;  // n given labels, each in [0, classes)
  std::size_t classes = 0;

  std::size_t size() const noexcept { return labels.size(); }
  std::span<const float> row(std::size_t image) const {
    return probabilities.subspan(image * classes, classes);
  }
};

// Throws UsageError unless the sizes match, labels are classes and probabilities are numbers.
void check_judged(const JudgedLabels& judged);

// t_j: the mean probability of class j over the images labelled j. Infinity if there are none.
std::vector<double> class_thresholds(const JudgedLabels& judged);

// Image counts by given label i and class j: [i * classes + j].
struct LabelCounts {
  std::size_t classes = 0;
  std::vector<std::uint64_t> counts;

  std::uint64_t at(std::size_t given, std::size_t other) const {
    return counts[given * classes + other];
  }
};

// The confident joint C[i][j]: images labelled i whose likely class is j. That is the most probable
// among the classes whose probability reaches their threshold. Images without such a class are not
// counted.
LabelCounts confident_joint(const JudgedLabels& judged);

// The joint scaled so that row i sums to the images labelled i, an estimate for all images. Rounded
// by largest remainders.
LabelCounts calibrated(const LabelCounts& joint, const JudgedLabels& judged);

// How suspects are selected, by the paper's names.
enum class Prune : std::uint8_t {
  kConfidentJoint,  // off-diagonal entries of the confident joint
  // For each label, as many as are off the calibrated diagonal: those with the lowest probability
  // of their own label.
  kClass,
  // For each pair (i, j), as many as in the calibrated joint: images labelled i with the largest
  // p_j - p_i.
  kNoiseRate,
  kBoth,  // listed by both kClass and kNoiseRate
};
struct PruneRow {
  Prune prune;
  std::string_view name;
  std::string_view what;
};
std::span<const PruneRow> prunings();
Prune parse_prune(std::string_view name);  // UsageError naming the known ones

// The score that orders suspects; below 0.5 for all of them.
enum class SuspectOrder : std::uint8_t {
  kRatio,   // p(given) / (p(given) + p(likely)): its probability if only these two are possible
  kMargin,  // (1 + p(given) - p(likely)) / 2: the paper's normalised margin
  kOwn,     // p(given): the paper's self-confidence
};
struct SuspectOrderRow {
  SuspectOrder order;
  std::string_view name;
  std::string_view what;
};
std::span<const SuspectOrderRow> suspect_orders();
SuspectOrder parse_suspect_order(std::string_view name);  // UsageError naming the known ones

struct LabelSuspect {
  std::uint32_t image = 0;  // row of JudgedLabels
  std::int32_t likely = 0;  // the most probable of the other classes
  float score = 0;          // 0, the worst, to 0.5
};

// Images whose labels are probably wrong, by ascending score, then by image. Never one whose own
// label is the most probable class.
std::vector<LabelSuspect> find_label_suspects(const JudgedLabels& judged, Prune prune,
                                              SuspectOrder order = SuspectOrder::kRatio);

}  // namespace winnow::dedup
