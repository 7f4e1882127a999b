#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/queue/job_queue.h"
#include "common/statistics.h"

// Results of a sweep's runs, by arm (a way to thin the training data). Pure functions.
namespace winnow::app {

// Effects of an arm (a way to thin the training data) on the data, independent of training.
struct ArmFacts {
  // Largest Hamming distance in bits between a removed image and the one kept for it; nullopt: no
  // duplicates are removed.
  std::optional<int> bits = {};
  // Expected share of true duplicates among the pairs within that distance.
  std::optional<double> precision = {};
  // Test images with a duplicate left in training; for controls the mean over seeds.
  double leaks = 0;
  double conflicts = 0;          // groups of duplicates in training with different labels
  std::size_t classes_gone = 0;  // number of classes that lose all their training images
  // Removed images by class; an image with several labels counts in each.
  std::vector<std::uint64_t> removed = {};
};

// One arm of a sweep: a way to thin the training samples, or its control, trained with several
// seeds.
struct SweepArm {
  std::string name = {};  // name of the arm: "all", "phash-r25-first", "control-phash-r25-first"
  // Name of a series of arms that differ only in how much they remove: "phash first". A control has
  // the series of its arm.
  std::string series = {};
  // Unit of training length, which is equal for all arms: "epochs" or "steps".
  std::string budget = {};
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  ArmFacts facts = {};
  double epochs = 0;
  std::uint64_t epoch_images = 0;  // number of images of one epoch
  // Index of the arm's control; nullopt: it is a control, or keeps all images.
  std::optional<std::size_t> control = {};
  std::vector<std::string> jobs = {};  // one training job per seed
  // Number of seeds after which the arm was stopped as clearly worse; nullopt: not stopped.
  std::optional<std::size_t> stopped_after = {};

  bool is_control() const noexcept { return name.starts_with("control-"); }
  // Number of training images that one run sees over all its epochs.
  std::uint64_t images_seen() const noexcept {
    return static_cast<std::uint64_t>(epochs * static_cast<double>(epoch_images) + 0.5);
  }
  double removed_share() const noexcept {
    return static_cast<double>(removed) / static_cast<double>(removed + kept);
  }
};

// Correct predictions on the images of one class, over all runs of an arm (a way to thin the
// training data).
struct ClassHits {
  std::uint64_t right = 0;
  std::uint64_t images = 0;

  std::optional<double> share() const noexcept {
    if (images == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(images);
  }
};

struct ArmResult {
  // Accuracy on the hold-out, by seed; nullopt: there is no such run.
  std::vector<std::optional<double>> top1;
  std::vector<std::string> failures;  // why runs failed
  double mean = 0;                    // mean accuracy of the runs that exist
  // Standard deviation (n - 1) of the accuracy; nullopt: fewer than two runs.
  std::optional<double> deviation = {};
  // Accuracy difference to the arm that keeps all images, and to the control (random removal), over
  // the seeds that both arms have.
  std::optional<PairedDifference> versus_all = {};
  std::optional<PairedDifference> versus_control = {};
  // Whether the arm loses accuracy compared with all images; needs two seeds or more. The verdict
  // and both p-values are corrected for the number of settings tried.
  std::optional<Loss> loss = {};
  // P-value of the hypothesis that the loss exceeds the margin.
  std::optional<double> p_no_loss = {};
  // P-value of the hypothesis that arm and control are equally accurate.
  std::optional<double> p_control = {};
  // Whether the arm loses nothing by a verdict that is not corrected for the other settings tried.
  bool passes_alone = false;
  std::vector<ClassHits> classes = {};  // accuracy by class; empty: the runs have not stored it
  std::optional<double> seconds = {};   // mean training time of its runs, in seconds

  std::size_t runs() const noexcept;
};

struct SweepJudge {
  double margin = 0.005;              // accuracy loss that is allowed, a share
  std::uint64_t held_out_images = 0;  // number of held-out images that accuracy is measured on
  // Recommend the most accurate setting that keeps at most this many training images; nullopt: see
  // recommend().
  std::optional<std::uint64_t> most_images = {};
};

// Number of settings that verdicts are corrected for. Settings that give the same training images
// count once.
std::size_t points_of(const std::vector<SweepArm>& arms);

// Computes the results of all arms of a sweep, in order.
//
// arms      The first one keeps all images. Outcomes are `{"top1": ..., "seconds": ..., "classes":
//           [[right, images], ...]}`, where top1 is required, or failures.
// Verdicts  One-sided Student's t-tests over seeds against the margin, at 5 % for all points
//           together (Holm). Controls are corrected separately. Differences and their intervals are
//           not corrected.
// Throws    FormatError: an outcome is not that of a sweep's run.
std::vector<ArmResult> results_of(const std::vector<SweepArm>& arms, const SweepJudge& judge,
                                  const OutcomeOf& outcome_of);

}  // namespace winnow::app
