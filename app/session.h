#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/stop.h"
#include "common/thread_plan.h"

namespace winnow::app {

// Where a verb sends its output. Called on rank 0 only. An empty function ignores its output.
struct Sinks {
  // A sentence for people, at once.
  std::function<void(const std::string& sentence)> sentence;
  // Text for the standard output: lines of a list or a table, each with its line end.
  std::function<void(std::string_view lines)> lines;
  // Makes those lines readable now.
  std::function<void()> flush;
  // A progress bar for one piece of work, from its first progress until the sink is destroyed.
  // title  the work, such as "search"; unit: what is counted, such as "images"
  std::function<ProgressSink(const std::string& title, const std::string& unit)> bar;
  // While the returned object lives, a request to stop may end the process at once, because there
  // is nothing to finish. Throws StoppedError if one came before.
  std::function<std::shared_ptr<void>()> nothing_to_finish;
};

// The environment of a verb. The caller owns it and what it refers to.
struct Session {
  comm::Communicator& comm;
  ThreadPlanInputs threads;  // for this process, including the number of local ranks
  StopRequested stop;        // polled often; a stopped verb throws StoppedError
  Sinks to;
};

// The threads of a process that was asked to use `cores` cores; 0: all available.
ThreadPlan thread_plan(const Session& session, int cores);

// Sentences for people; rank 0 only.
void say(const Session& session, const std::string& sentence);
void say_each(const Session& session, const std::vector<std::string>& sentences);

// Lines for the standard output; rank 0 only.
void print(const Session& session, std::string_view lines);

// Whether a stop was requested.
bool is_asked_to_stop(const Session& session);

// Progress of one piece of work. Never empty: on ranks other than 0, and without a listener, it
// does nothing.
ProgressSink progress_bar(const Session& session, const std::string& title,
                          const std::string& unit);
// A progress bar that throws StoppedError with `sentence` once this rank was asked to stop. Ranks
// that show no bar throw it, too.
ProgressSink stopping_bar(const Session& session, const std::string& title, const std::string& unit,
                          std::string sentence);

// Sinks::nothing_to_finish(); nullptr if it is empty.
std::shared_ptr<void> nothing_to_finish(const Session& session);

// The local time in a format of strftime; at most 63 characters.
std::string local_time(const char* format);

// Version of winnow: "0.1.0".
const char* version();

// Date and time, version and machine, for files that people keep.
std::string made_here();

}  // namespace winnow::app
