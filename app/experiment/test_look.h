#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "common/queue/job_queue.h"

namespace winnow::app {

// How runs of a queue are evaluated on test: when nothing is left to be decided.
struct TestLook {
  const TrainJobs& runs;  // how they were trained; outlives it
  std::string cache_digest;
  std::string selection;           // says which images of test have leaked; empty: nothing does
  std::vector<std::string> train;  // further words that the runs were trained with
};

// The job that evaluates the run of another job. Its outcome is {"top1": ..., "top1_leak_free":
// ...}, the latter null where it is not known.
std::string test_job(const TestLook& how, const std::string& run);

// Evaluates the runs of these jobs, those that were not yet, and keeps that in the queue.
// Out     What test_job() of a run came to, as long as `queue` lives.
// Throws  As train_jobs().
OutcomeOf evaluate_on_test(const TestLook& how, const std::vector<std::string>& runs,
                           JobQueue& queue, const Session& session);

// Notes in looks.json of `folder` that test is looked at for this choice. How many there are by
// now.
std::uint64_t note_look(const std::filesystem::path& folder, const std::string& choice);

}  // namespace winnow::app
