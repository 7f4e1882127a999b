#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/plan/rates.h"
#include "app/plan/report.h"
#include "app/session.h"
#include "train/backend/backend.h"
#include "train/run/start/job.h"
#include "train/run/start/trial.h"

namespace winnow::app {

struct PlanRequest;

// A trial and its step times.
struct Timed {
  int lane_threads = 1;
  train::Trial trial{};
  train::StepSeconds step{};  // the median step, without waiting for data
  double waited = 0;          // mean seconds that a step waited for data
  double spread = 0;

  double images() const {  // images of a step on a rank
    return static_cast<double>(trial.form.micro_batch * trial.form.micro_batches);
  }
};

// The median step and the mean wait of a trial.
Timed timed_trial(train::Trial trial, int lane_threads);

// How many micro-batches a rank computes in a step of a trial, out of the step `whole`. Pure.
// All of them if that takes about a second, because a part of a step does not show what a step
// costs besides its micro-batches. Else a round or two of the lanes at least.
// flops_of_image  Floating-point operations of an image, forward pass only.
std::int64_t micro_batches_of_trial(double flops_of_image, const train::StepForm& whole);

// Seconds that a step of so many images waits for them, if computing it takes `computing`. Pure.
// If the steps of the trial `of` waited for more than a twentieth of their time, the loader sets
// the pace, so a faster step waits longer.
double waiting_seconds(const Timed& of, double images, double computing);

// Estimates a step with the form `wanted` in lanes of `lane_threads` threads from trials. Pure.
//
// Same micro-batch and lanes   as measured, for the wanted number of micro-batches
// Between two of them          forward and backward per image are interpolated over the logarithm
//                              of the micro-batch
// Outside                      time per image as for the nearest
// Other threads                scaled by the nearest micro-batch that both have
struct StepOf {
  train::StepSeconds step{};
  How how = How::kScaled;
  double spread = 0;
};
StepOf step_by(const std::vector<Timed>& trials, const train::StepForm& wanted, int lane_threads);

// Measures steps of a plan's rows, and estimates all others.
class Timing {
 public:
  Timing(const PlanRequest& request, const train::ExecutionOptions& execution,
         const train::Job& job, train::Backend& backend, Session& session,
         const PlanReport& report);

  // Measures, or uses times that an earlier plan kept. First tells the user how long it takes.
  // Collective.
  void measure();
  // Measures this row as well, if its micro-batch was measured in other lanes only and time is
  // left. Collective. Out  false: nothing was measured.
  bool measure_also(const PlanRow& row);
  // Sets the steps of the report's rows that fit into memory (PlanRow::fits).
  void fill(PlanReport& report) const;

  // A step of a row with a rank's part of a batch, including waiting for data.
  train::StepSeconds step_of(const PlanRow& row, std::int64_t rank_images) const;
  train::StepForm form_of(const PlanRow& row) const;
  // Seconds for a micro-batch on each lane, forward and backward.
  double round_seconds(const PlanRow& row) const;
  double start_seconds() const;
  double evaluation_seconds(const PlanRow& row, std::int64_t images) const;
  // When each node of a micro-batch ends, in lanes as busy as the row's.
  std::vector<double> node_ends(const PlanRow& row) const;

 private:
  // A trial to take, and its times if an earlier plan kept them.
  struct Wanted {
    train::TrialShape shape{};
    std::string key{};
    std::optional<train::Trial> known{};
  };
  std::vector<Wanted> wanted() const;
  Wanted wanted(std::int64_t micro_batch, int lane_threads, bool by_node) const;
  void take(Wanted one);
  void take_all(std::vector<Wanted> left);
  train::ExecutionOptions execution_of_trial() const;
  // Removes trials from `left` that would take too long. Tells the user how long the rest takes.
  void fit_into_time(std::vector<Wanted>& left) const;
  std::vector<std::int64_t> micro_batches() const;
  // Seconds that an evaluation waits for its images, if computing them takes `computing`. It was
  // measured while nothing was loaded.
  double loading_seconds(double images, double computing) const;

  const PlanRequest& request_;
  const train::ExecutionOptions& execution_;
  const train::Job& job_;
  train::Backend& backend_;
  Session& session_;
  const PlanReport& report_;
  const Rates rates_;
  std::vector<Timed> trials_{};
  std::int64_t measured_steps_ = 0;  // in this plan
};

}  // namespace winnow::app
