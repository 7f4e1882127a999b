#pragma once

#include <cstdint>
#include <vector>

#include "app/plan/report.h"
#include "app/session.h"
#include "train/backend/backend.h"
#include "train/run/start/job.h"
#include "train/run/start/trial.h"

namespace winnow::app {

struct PlanRequest;

// A trial and what its steps come to.
struct Timed {
  int lane_threads = 1;
  train::Trial trial{};
  train::StepSeconds step{};  // the one in the middle
  double spread = 0;

  double images() const {  // of a step on a rank
    return static_cast<double>(trial.form.micro_batch * trial.form.micro_batches);
  }
};

// The step of the form `wanted` in lanes of `lane_threads` threads, by trials that were made. Pure.
//
// Same micro-batch and lanes   as measured, for as many micro-batches as are wanted
// Between two of them          forward and backward of an image in proportion to the logarithm of
//                              the micro-batch
// Outside                      an image takes what it does in the nearest
// Other threads                in proportion to the nearest micro-batch that both have
struct StepOf {
  train::StepSeconds step{};
  How how = How::kScaled;
  double spread = 0;
};
StepOf step_by(const std::vector<Timed>& trials, const train::StepForm& wanted, int lane_threads);

// Measures steps of a plan's rows, and foretells all of them.
class Timing {
 public:
  Timing(const PlanRequest& request, const train::ExecutionOptions& execution,
         const train::Job& job, train::Backend& backend, Session& session, const PlanReport& report)
      : request_(request),
        execution_(execution),
        job_(job),
        backend_(backend),
        session_(session),
        report_(report) {}

  // Collective. Says beforehand how long it takes.
  void measure();
  void fill(PlanReport& report) const;  // rows that fit get their steps

  // Of a row, for a rank's part of a batch of so many images. With waiting for data.
  train::StepSeconds step_of(const PlanRow& row, std::int64_t rank_images) const;
  train::StepForm form_of(const PlanRow& row) const;
  double start_seconds() const;
  double evaluation_seconds(const PlanRow& row, std::int64_t images) const;
  // Ends of the nodes of a micro-batch, in lanes as busy as the row's.
  std::vector<double> node_ends(const PlanRow& row) const;

 private:
  void measure_one(std::int64_t micro_batch, int lane_threads);
  std::vector<std::int64_t> micro_batches() const;
  double data_seconds(double images, double computing) const;

  const PlanRequest& request_;
  const train::ExecutionOptions& execution_;
  const train::Job& job_;
  train::Backend& backend_;
  Session& session_;
  const PlanReport& report_;
  std::vector<Timed> trials_{};
};

}  // namespace winnow::app
