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

// Where a verb (a command of winnow) sends its output. Each function is called on rank 0 only. An
// empty function discards the output.
struct Sinks {
  // Shows a sentence to the user at once.
  std::function<void(const std::string& sentence)> sentence;
  // Writes text to the standard output: lines of a list or a table, each with its line end.
  std::function<void(std::string_view lines)> lines;
  // Flushes the standard output.
  std::function<void()> flush;
  // Creates a progress bar for one piece of work. The bar ends when the returned sink is destroyed.
  // title  the work, such as "search"
  // unit   what is counted, such as "images"
  std::function<ProgressSink(const std::string& title, const std::string& unit)> bar;
  // Marks a phase that has nothing to finish: while the returned object lives, a request to stop
  // may end the process at once. Throws StoppedError if a stop was requested before.
  std::function<std::shared_ptr<void>()> nothing_to_finish;
};

// The environment of a verb (a command of winnow): ranks, threads, requests to stop, output. The
// caller owns it and everything it refers to.
struct Session {
  comm::Communicator& comm;
  ThreadPlanInputs threads;  // threads of this process, including the number of local ranks
  StopRequested stop;        // returns true once the verb must stop by a StoppedError; polled often
  Sinks to;
};

// Plans the threads of this process for `cores` CPU cores; 0: all available cores.
ThreadPlan thread_plan(const Session& session, int cores);

// Shows sentences to the user. Ranks other than 0 show nothing.
void say(const Session& session, const std::string& sentence);
void say_each(const Session& session, const std::vector<std::string>& sentences);

// Writes lines to the standard output. Ranks other than 0 write nothing.
void print(const Session& session, std::string_view lines);

// Whether a stop was requested.
bool is_asked_to_stop(const Session& session);

// A progress bar for one piece of work. Never empty: on ranks other than 0, and if progress is not
// shown, the returned sink does nothing.
ProgressSink progress_bar(const Session& session, const std::string& title,
                          const std::string& unit);
// A progress bar that checks at each progress whether this rank was asked to stop, and then throws
// StoppedError with `sentence`. Ranks that show no bar check and throw, too.
ProgressSink stopping_bar(const Session& session, const std::string& title, const std::string& unit,
                          std::string sentence);

// Calls Sinks::nothing_to_finish(). nullptr if that function is empty.
std::shared_ptr<void> nothing_to_finish(const Session& session);

// The local time, formatted as by strftime(); at most 63 characters.
std::string local_time(const char* format);

// Version of winnow: "0.1.0".
const char* version();

// Date, time, version of winnow and host name, as a remark for files: "when, by what, on which
// machine".
std::string made_here();

}  // namespace winnow::app
