#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace winnow::dedup {

// Probable label errors by confident learning: Northcutt, Jiang, Chuang, "Confident Learning:
// Estimating Uncertainty in Dataset Labels", JAIR 70 (2021). Pure functions.

// What a model that has not seen an image says of it, and the label that it carries.
struct JudgedLabels {
  std::span<const float> probabilities;  // (n, classes), a row an image; none is NaN
  std::span<const std::int32_t> labels;  // n given ones, each in [0, classes)
  std::size_t classes = 0;

  std::size_t size() const noexcept { return labels.size(); }
  std::span<const float> row(std::size_t image) const {
    return probabilities.subspan(image * classes, classes);
  }
};

// Throws UsageError unless the sizes fit each other, labels are classes and probabilities numbers.
void check_judged(const JudgedLabels& judged);

// t_j: the mean probability of class j over the images labelled j. Infinity where there is none.
std::vector<double> class_thresholds(const JudgedLabels& judged);

// Counts of images by given label i and class j: [i * classes + j].
struct LabelCounts {
  std::size_t classes = 0;
  std::vector<std::uint64_t> counts;

  std::uint64_t at(std::size_t given, std::size_t other) const {
    return counts[given * classes + other];
  }
};

// The confident joint C[i][j]: images labelled i of which j is, of the classes whose probability
// reaches their threshold, the most probable. An image where none does is not counted.
LabelCounts confident_joint(const JudgedLabels& judged);

// The same scaled so that row i adds up to the images labelled i: what the counts would be of all
// images. Rounded, what was lost going to the largest remainders.
LabelCounts calibrated(const LabelCounts& joint, const JudgedLabels& judged);

// Which images are listed, as the paper names the ways.
enum class Prune : std::uint8_t {
  kConfidentJoint,  // those off the diagonal of the confident joint
  kClass,           // of each label as many as are off its diagonal when calibrated, those that the
                    // own label is least probable of
  kNoiseRate,  // of each pair (i, j) as many as the calibrated joint has, those labelled i with
               // the largest p_j - p_i
  kBoth,       // those that kClass and kNoiseRate both list
};
struct PruneRow {
  Prune prune;
  std::string_view name;
  std::string_view what;
};
std::span<const PruneRow> prunings();
Prune parse_prune(std::string_view name);  // UsageError naming the known ones

// Which suspect comes first, by its score; below 0.5 for all of them.
enum class SuspectOrder : std::uint8_t {
  kRatio,   // p(given) / (p(given) + p(likely)): its probability if it was one of these two
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

// The images whose labels are probably wrong, the smallest score first, of equal ones the first
// image. None whose own label is the most probable class.
std::vector<LabelSuspect> find_label_suspects(const JudgedLabels& judged, Prune prune,
                                              SuspectOrder order = SuspectOrder::kRatio);

}  // namespace winnow::dedup
