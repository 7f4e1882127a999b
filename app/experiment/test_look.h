#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// How runs of a queue are evaluated on test, once nothing is left to decide.
struct TestLook {
  const TrainJobs& runs;  // how they were trained; must outlive this
  std::string cache_digest;
  std::string selection;           // says which test images are leaked; empty: unknown
  std::vector<std::string> train;  // further words of their training
};

// The job that evaluates another job's run. Outcome: {"top1": ..., "top1_leak_free": ...}; the
// latter is null if unknown.
std::string test_job(const TestLook& how, const std::string& run);

// Evaluates the runs of these jobs that are not evaluated yet, and keeps the outcomes in the queue.
// Out     Outcome of test_job() by run. Valid as long as `queue` lives.
// Throws  as train_jobs()
OutcomeOf evaluate_on_test(const TestLook& how, const std::vector<std::string>& runs,
                           JobQueue& queue, const Session& session);

// Records in looks.json of `folder` that test was looked at for this choice. Returns the number of
// choices so far.
std::uint64_t note_look(const std::filesystem::path& folder, const std::string& choice);

}  // namespace winnow::app
