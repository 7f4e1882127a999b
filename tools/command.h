#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/session.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

using namespace app;  // verbs bind flags to their functions

// A verb of a verb, such as `winnow index add`. It has its own function, often in its own file.
struct SubVerb {
  Verb verb;
  std::function<void(Session&)> run;
  bool uses_ranks = false;  // whether it may run under mpirun
};

// One verb (command) of the program. Its options are bound to memory that lives as long as `run`.
struct Command {
  Verb verb;
  bool uses_ranks = false;  // whether it may run under mpirun
  // The verb's work. Throws on failure. Empty if the command has verbs of its own.
  std::function<void(Session&)> run;
  // Whether the verb polls Session::stop, because it has something to finish or to undo. Other
  // verbs are ended by the first signal.
  bool stops = false;
  std::vector<SubVerb> verbs = {};  // its own verbs, one of which must be called; empty: none
};

// Each function adds one verb to `program`, and is in its own cmd_<verb>.cpp.
Command add_ingest(Verb program);
Command add_dedup(Verb program);
Command add_review(Verb program);
Command add_split(Verb program);
Command add_tune(Verb program);
Command add_suspects(Verb program);
Command add_plan(Verb program);
Command add_train(Verb program);
Command add_embed(Verb program);
Command add_eval(Verb program);
Command add_predict(Verb program);
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

// The outputs of a verb: sentences and progress go to stderr, lines to stdout.
Sinks terminal_sinks();

// Prints lines of a list on stdout. If stdout is a terminal, bytes that would control it are
// escaped as in messages; elsewhere they are unchanged.
void print_list(std::string_view lines);
// The lines as print_list() writes them to a terminal. Pure.
std::string list_for_terminal(std::string_view lines);

}  // namespace winnow::tools
