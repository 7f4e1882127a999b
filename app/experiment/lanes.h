#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/queue/job_queue.h"
#include "common/stop.h"

namespace winnow::app {

// A program to run as a child process.
struct Child {
  std::vector<std::string> words;  // the first is the program's path
  std::filesystem::path out;       // files for its stdout and stderr
  std::filesystem::path error;
  int keeps = -1;  // a descriptor that the child inherits: of a claim
  // "NAME=VALUE": take precedence over this process's environment
  std::vector<std::string> variables = {};
};

struct ChildEnd {
  int exit_code = 0;  // valid if `signal` is 0
  int signal = 0;     // the signal that ended it; 0: none
};

// Runs a child to its end. Thread-safe.
// Stop    once `stop` returns true the child gets a SIGTERM; it may take its time to end
// Throws  SystemError: it cannot be started
ChildEnd run_child(const Child& child, const StopRequested& stop);

// Does each job once on `lanes` threads, sharing the queue with other processes. Returns when all
// jobs are done, here or elsewhere.
//
// do_job  Does a claimed job on the lane of this number. Returns its outcome; nullopt: the job is
//         left to others, and no lane begins another.
// Throws  StoppedError once `stop` returned true; the first exception of do_job, after all lanes
//         ended.
void work_off(JobQueue& queue, std::span<const std::string> jobs, int lanes,
              const StopRequested& stop,
              const std::function<std::optional<Outcome>(const Claim&, std::size_t lane)>& do_job);

}  // namespace winnow::app
