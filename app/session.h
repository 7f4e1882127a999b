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

// Where a verb puts what it has to say. Called on rank 0 only. Any may be empty: nobody listens.
struct Sinks {
  // A sentence for people, as it comes.
  std::function<void(const std::string& sentence)> sentence;
  // What belongs on the standard output: lines of a list or a table, each with its end.
  std::function<void(std::string_view lines)> lines;
  // Lets those lines be read at once.
  std::function<void()> flush;
  // How far one piece of work is, from its first progress until the sink is destroyed.
  // title  what is done, as "search"; unit: what is counted, as "images"
  std::function<ProgressSink(const std::string& title, const std::string& unit)> bar;
  // While what it returns lives, there is nothing to finish, and a request to stop may end the
  // process at once. Throws StoppedError where one came before.
  std::function<std::shared_ptr<void>()> nothing_to_finish;
};

// What a verb runs with. The caller owns it, and what it refers to.
struct Session {
  comm::Communicator& comm;
  ThreadPlanInputs threads;  // of this process, local ranks filled in
  StopRequested stop;        // asked for often; a verb that is stopped throws StoppedError
  Sinks to;
};

// The threads of a process that was asked for so many cores; 0: all it may use.
ThreadPlan thread_plan(const Session& session, int cores);

// Sentences for people; rank 0 only.
void say(const Session& session, const std::string& sentence);
void say_each(const Session& session, const std::vector<std::string>& sentences);

// Lines for the standard output; rank 0 only.
void print(const Session& session, std::string_view lines);

// Whether the caller asks for the end.
bool is_asked_to_stop(const Session& session);

// Progress of one piece of work. Never empty: on other ranks than 0, and where nobody listens, it
// does nothing.
ProgressSink progress_bar(const Session& session, const std::string& title,
                          const std::string& unit);
// The same of work that is asked to stop: throws StoppedError with `sentence` then, on any rank.
ProgressSink stopping_bar(const Session& session, const std::string& title, const std::string& unit,
                          std::string sentence);

// Sinks::nothing_to_finish; nullptr where there is none.
std::shared_ptr<void> nothing_to_finish(const Session& session);

// Now, where this machine is, as strftime has it; at most 63 letters.
std::string local_time(const char* format);

// Of winnow: "0.1.0".
const char* version();

// Date and time, version and machine, for what people keep.
std::string made_here();

}  // namespace winnow::app
