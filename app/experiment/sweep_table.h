#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/queue/job_queue.h"
#include "common/statistics.h"

// The table of a sweep: results of its runs by arm. Pure functions.
namespace winnow::app {

// Effects of an arm on the data, whatever is trained on it.
struct ArmFacts {
  std::optional<int> bits = {};  // largest distance of removed images; nullopt: no duplicates
  // Expected share of duplicates among the pairs within `bits`.
  std::optional<double> precision = {};
  double leaks = 0;      // test images that still have a duplicate in training; means for controls
  double conflicts = 0;  // groups of duplicates in training whose labels differ
  std::size_t classes_gone = 0;             // classes without any training image left
  std::vector<std::uint64_t> removed = {};  // by class; an image with several labels counts in each
};

// A way to thin the training samples, or its control, trained with several seeds.
struct SweepArm {
  std::string name = {};  // "all", "phash-r25-first", "control-phash-r25-first"
  // Arms that differ only in how much they thin share a series: "phash first". A control has that
  // of its arm.
  std::string series = {};
  std::string budget = {};  // unit in which training equals that of `all`: "epochs" or "steps"
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  ArmFacts facts = {};
  double epochs = 0;
  std::uint64_t epoch_images = 0;  // images of an epoch
  // place of its control; nullopt: it is a control, or thins nothing
  std::optional<std::size_t> control = {};
  std::vector<std::string> jobs = {};             // one per seed
  std::optional<std::size_t> stopped_after = {};  // number of seeds, because more cannot matter

  bool is_control() const noexcept { return name.starts_with("control-"); }
  std::uint64_t images_seen() const noexcept {  // by training, in a run
    return static_cast<std::uint64_t>(epochs * static_cast<double>(epoch_images) + 0.5);
  }
  double removed_share() const noexcept {
    return static_cast<double>(removed) / static_cast<double>(removed + kept);
  }
};

// Accuracy on the images of a class, over all runs of an arm.
struct ClassHits {
  std::uint64_t right = 0;
  std::uint64_t images = 0;

  std::optional<double> share() const noexcept {
    if (images == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(images);
  }
};

struct ArmResult {
  std::vector<std::optional<double>> top1;  // on the hold-out, by seed; nullopt: no such run
  std::vector<std::string> failures;        // reasons of failed runs
  double mean = 0;                          // over the runs that exist
  std::optional<double> deviation = {};     // with n - 1; from two runs on
  // Difference to the arm that thins nothing, and to the control, over the seeds that both have.
  std::optional<PairedDifference> versus_all = {};
  std::optional<PairedDifference> versus_control = {};
  // Verdict against all, from two seeds or more. It and both p-values are corrected over the
  // points.
  std::optional<Loss> loss = {};
  std::optional<double> p_no_loss = {};  // for the hypothesis that the margin is lost
  std::optional<double> p_control = {};  // for the hypothesis that arm and control are equal
  bool passes_alone = false;             // would lose nothing if no other point had been tried
  std::vector<ClassHits> classes = {};   // empty: its runs do not say
  std::optional<double> seconds = {};    // mean of its runs

  std::size_t runs() const noexcept;
};

struct SweepJudge {
  double margin = 0.005;              // share that may be lost
  std::uint64_t held_out_images = 0;  // images that accuracies are measured on
  // Choose the most accurate point that keeps at most this many images; nullopt: see recommend().
  std::optional<std::uint64_t> most_images = {};
};

// Number of verdicts in the correction: points, without those that share another's runs.
std::size_t points_of(const std::vector<SweepArm>& arms);

// Results of all arms, in their order.
//
// In        The first arm thins nothing. Outcomes are `{"top1": ..., "seconds": ..., "classes":
//           [[right, images], ...]}` (top1 is required), or failures.
// Verdicts  One-sided Student's t tests over seeds against the margin, at 5 % for all points
//           together (Holm). Controls are corrected separately. Differences and their intervals are
//           not corrected.
// Throws    FormatError: an outcome that is none of a sweep.
std::vector<ArmResult> results_of(const std::vector<SweepArm>& arms, const SweepJudge& judge,
                                  const OutcomeOf& outcome_of);

}  // namespace winnow::app
