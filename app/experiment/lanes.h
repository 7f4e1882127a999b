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

// A program that runs beside this one.
struct Child {
  std::vector<std::string> words;  // the first is the program's path
  std::filesystem::path out;       // files that take what it prints
  std::filesystem::path error;
  int keeps = -1;                           // a descriptor that it has as well: a claim's
  std::vector<std::string> variables = {};  // "NAME=VALUE": of its environment, before this one's
};

struct ChildEnd {
  int exit_code = 0;  // where `signal` is 0
  int signal = 0;     // that ended it
};

// Runs it to its end. Once `stop` says yes it gets a SIGTERM, and may take its time. Throws
// SystemError where it cannot be started. Safe from many threads.
ChildEnd run_child(const Child& child, const StopRequested& stop);

// Has `lanes` threads do these jobs, each once, together with whoever else works on the queue;
// returns when all are done, here or elsewhere.
//
// do_job  Of a claim, on the lane of this number. The outcome; nothing: the job is left to whoever
// asks next, and no lane begins another. Throws  StoppedError once `stop` said yes; the first
// exception of do_job, when all lanes ended.
void work_off(JobQueue& queue, std::span<const std::string> jobs, int lanes,
              const StopRequested& stop,
              const std::function<std::optional<Outcome>(const Claim&, std::size_t lane)>& do_job);

}  // namespace winnow::app
