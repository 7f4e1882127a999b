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
  std::vector<std::string> words;  // command line; the first word is the path of the program
  std::filesystem::path out;       // file for stdout; `error` is the one for stderr
  std::filesystem::path error;
  int keeps = -1;  // file descriptor of the job's claim, which the child inherits; -1: none
  // Environment variables, "NAME=VALUE", that override those of this process.
  std::vector<std::string> variables = {};
};

struct ChildEnd {
  int exit_code = 0;  // exit code of the process, if `signal` is 0
  int signal = 0;     // signal that ended the process; 0: none
};

// Runs a child process until it ends. Thread-safe.
// Stop    when `stop` returns true, the child gets a SIGTERM, and its end is awaited
// Throws  SystemError: it cannot be started
ChildEnd run_child(const Child& child, const StopRequested& stop);

// Does each job once on `lanes` threads; other processes may work on the same queue. Returns when
// all jobs are done, here or elsewhere.
//
// do_job  does a claimed job on the lane with this number and returns its outcome. nullopt: the job
//         is left to other processes, and no lane here begins another.
// Throws  StoppedError if `stop` returns true; the first exception of do_job, after all lanes ended
void work_off(JobQueue& queue, std::span<const std::string> jobs, int lanes,
              const StopRequested& stop,
              const std::function<std::optional<Outcome>(const Claim&, std::size_t lane)>& do_job);

}  // namespace winnow::app
