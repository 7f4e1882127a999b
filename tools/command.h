#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/communicator.h"
#include "common/progress.h"
#include "common/stop.h"
#include "common/thread_plan.h"
#include "tools/flags/flags.h"
#include "tools/report/words.h"

namespace winnow::tools {

// What a verb runs with; owned by main.
struct Session {
  comm::Communicator& comm;
  ThreadPlanInputs threads;  // of this process, local ranks filled in
  StopRequested stop;        // Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP came (stop_signals.h)
};

// One verb of the program: its options, bound to memory that lives as long as `run`.
struct Command {
  Verb verb;
  bool uses_ranks = false;            // may run under mpirun
  std::function<void(Session&)> run;  // throws; returning is success
  // It asks Session::stop, as it has something to finish or to take back; others are ended by the
  // first signal.
  bool stops = false;
};

// One line a verb; each in its own cmd_<verb>.cpp.
Command add_ingest(Verb program);
Command add_dedup(Verb program);
Command add_review(Verb program);
Command add_split(Verb program);
Command add_tune(Verb program);
Command add_suspects(Verb program);
Command add_train(Verb program);
Command add_embed(Verb program);
Command add_eval(Verb program);
Command add_report(Verb program);
Command add_watch(Verb program);
Command add_compare(Verb program);
Command add_sweep(Verb program);
Command add_tune_lr(Verb program);
Command add_export(Verb program);
Command add_onnx(Verb program);
Command add_info(Verb program);
Command add_verify(Verb program);
Command add_cache(Verb program);
Command add_compact(Verb program);
Command add_hash(Verb program);
Command add_index(Verb program);
Command add_bench(Verb program);
Command add_reference(Verb program);
Command add_doctor(Verb program);

// The threads of a process that was asked for so many cores; 0: all it may use.
ThreadPlan thread_plan(const Session& session, int cores);

// Now, where this machine is, as strftime has it; at most 63 letters.
std::string local_time(const char* format);

// Date and time, version and machine, for what people keep.
std::string made_here();

// `text` without characters that command a terminal: names of files and what is in files may have
// come from anywhere.
std::string printable(std::string_view text);
// The same of what is said in an error, which may quote files: at most some 7,000 bytes of it, and
// some 250 of what stands in quotes.
std::string printable_sentence(std::string_view text);

// Sentences for people, on stderr, printable; rank 0 only.
void say(const Session& session, const std::string& sentence);

// Prints lines of a list on stdout. In a terminal, bytes that it would obey are shown as in
// messages; elsewhere they are what they are.
void print_list(std::string_view lines);
// The same of any text: what a terminal is given. Pure.
std::string list_for_terminal(std::string_view lines);

}  // namespace winnow::tools
