#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/queue/job_queue.h"
#include "common/statistics.h"

// What a sweep's runs come to. Pure functions.
namespace winnow::app {

// What an arm does to the data, whatever is trained on it.
struct ArmFacts {
  std::optional<int> bits = {};  // that what is removed lies apart, at most; nothing: no duplicates
  // The share of the pairs within them that are expected to be duplicates.
  std::optional<double> precision = {};
  double leaks = 0;      // test images that still have a duplicate in training; of controls means
  double conflicts = 0;  // groups of duplicates in training whose labels differ
  std::size_t classes_gone = 0;             // of which nothing is left to train on
  std::vector<std::uint64_t> removed = {};  // by class; one of several labels counts in each
};

// A way to thin the training samples, or its control, trained with some seeds.
struct SweepArm {
  std::string name = {};  // "all", "phash-r25-first", "control-phash-r25-first"
  // Those that differ in how hard they thin have one: "phash first". A control: that of its point.
  std::string series = {};
  std::string budget = {};  // what it has in common with all: "epochs" or "steps"
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  ArmFacts facts = {};
  double epochs = 0;
  std::uint64_t epoch_images = 0;                 // that an epoch sees
  std::optional<std::size_t> control = {};        // its place; nothing: it is one, or thins nothing
  std::vector<std::string> jobs = {};             // one a seed
  std::optional<std::size_t> stopped_after = {};  // seeds, for more of them cannot matter

  bool is_control() const noexcept { return name.starts_with("control-"); }
  std::uint64_t images_seen() const noexcept {  // in a run, by training
    return static_cast<std::uint64_t>(epochs * static_cast<double>(epoch_images) + 0.5);
  }
  double removed_share() const noexcept {
    return static_cast<double>(removed) / static_cast<double>(removed + kept);
  }
};

// Of the images of a class, over all runs of an arm.
struct ClassHits {
  std::uint64_t right = 0;
  std::uint64_t images = 0;

  std::optional<double> share() const noexcept {
    if (images == 0) return std::nullopt;
    return static_cast<double>(right) / static_cast<double>(images);
  }
};

struct ArmResult {
  std::vector<std::optional<double>> top1;  // on the hold-out, by seed; nothing: no such run
  std::vector<std::string> failures;        // why runs failed
  double mean = 0;                          // of those that there are
  std::optional<double> deviation = {};     // of two or more, n - 1
  // Of the seeds that both have, less: what thins nothing, and its control.
  std::optional<PairedDifference> beside_all = {};
  std::optional<PairedDifference> beside_control = {};
  // Beside all, of two seeds or more; of several points corrected, as the numbers below.
  std::optional<Loss> loss = {};
  std::optional<double> p_no_loss = {};  // of a difference as high if the margin were lost
  std::optional<double> p_control = {};  // of one as large beside the control if there were none
  bool passes_alone = false;             // it would lose nothing if no other point had been tried
  std::vector<ClassHits> classes = {};   // empty: its runs do not say
  std::optional<double> seconds = {};    // of a run, their mean

  std::size_t runs() const noexcept;
};

struct SweepJudge {
  double margin = 0.005;              // a share that may be lost
  std::uint64_t held_out_images = 0;  // that accuracies are of
  // The choice is the most accurate point that keeps at most so many; nothing: see recommend().
  std::optional<std::uint64_t> most_images = {};
};

// How many verdicts are corrected for: points, but for those that have the runs of another.
std::size_t points_of(const std::vector<SweepArm>& arms);

// In        The first arm thins nothing. Outcomes are `{"top1": ..., "seconds": ..., "classes":
//           [[right, images], ...]}`, of which the first must be there, or failed.
// Verdicts  One-sided tests of Student's t over seeds with the margin as the limit, at 5 % for all
//           points together (Holm); controls by themselves. Differences and their intervals are
//           those of each arm alone.
// Errors    FormatError: an outcome that is none of a sweep.
std::vector<ArmResult> results_of(const std::vector<SweepArm>& arms, const SweepJudge& judge,
                                  const OutcomeOf& outcome_of);

}  // namespace winnow::app
