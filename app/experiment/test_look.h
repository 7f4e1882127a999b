#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// How the runs of an experiment are evaluated on the test split, after everything else is decided.
struct TestLook {
  const TrainJobs& runs;  // how the runs were trained; must outlive this object
  std::string cache_digest;
  // Selection that marks test images with a duplicate in training; empty: unknown.
  std::string selection;
  std::vector<std::string> train;  // further options their training had
};

// The name of the job that evaluates the training job `run` on the test split. Its outcome is
// {"top1": ..., "top1_leak_free": ...}; the latter is null if duplicates are unknown.
std::string test_job(const TestLook& how, const std::string& run);

// Evaluates on test those of the runs that are not evaluated yet, and stores the outcomes in the
// queue.
// Out     function from a run's job to the outcome of its test_job(); valid as long as `queue`
//         lives
// Throws  as train_jobs()
OutcomeOf evaluate_on_test(const TestLook& how, const std::vector<std::string>& runs,
                           JobQueue& queue, const Session& session);

// Records in looks.json of `folder` that test was evaluated for this choice. Returns the number of
// different choices so far.
std::uint64_t note_look(const std::filesystem::path& folder, const std::string& choice);

}  // namespace winnow::app
