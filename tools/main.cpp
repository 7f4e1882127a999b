#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/printable.h"
#include "common/comm/agreement.h"
#include "common/comm/mpi/mpi.h"
#include "common/cores.h"
#include "common/error.h"
#include "common/host_name.h"
#include "common/to_stderr.h"
#include "tools/augment_config.h"
#include "tools/command.h"
#include "tools/help.h"
#include "tools/openmp_waiting.h"
#include "tools/require_ranks.h"
#include "tools/startup_reach.h"
#include "tools/startup_watch.h"
#include "tools/stop_signals.h"
#include "tools/sub_verb.h"
#include "tools/wrapped.h"
#include "train/nets/net_file.h"

namespace winnow::tools {
namespace {

// Any option can come from the environment: --batch-size of train is WINNOW_TRAIN_BATCH_SIZE, and
// --rounds of bench decode WINNOW_BENCH_DECODE_ROUNDS. `app` is the verb, a verb of its own or one
// of its option groups.
void name_environment(CLI::App& app, const std::string& verb) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option == app.get_help_ptr() ||
        option == app.get_help_all_ptr()) {
      continue;
    }
    std::string name = "WINNOW_" + verb + "_" + option->get_lnames().front();
    for (char& c : name) {
      c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    option->envname(name);
  }
  for (CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    name_environment(*part, part->get_name().empty() ? verb : verb + "_" + part->get_name());
  }
}

// A report that went to a full disk or a closed pipe is lost, and only the last flush knows.
void flush_report() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_errno("cannot write to the standard output");
  }
}

void say_failure(const std::string& why) { say_line("winnow: " + printable_sentence(why)); }

// What is this rank's of the cores that ranks of its machine may run on. Collective.
double own_cores(comm::Communicator& comm) {
  std::string mine;
  for (const int core : cores_of(0)) mine += std::to_string(core) + ' ';
  const std::vector<std::string> all = comm::all_gather(comm, mine);
  const std::vector<int>& node_of = comm.placement().node_of;
  const auto self = static_cast<std::size_t>(comm.rank());
  std::vector<std::vector<int>> here;
  std::size_t at = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (node_of[rank] != node_of[self]) continue;
    if (rank == self) at = here.size();
    std::istringstream text(all[rank]);
    here.emplace_back(std::istream_iterator<int>(text), std::istream_iterator<int>());
  }
  return share_of_cores(here, at);
}

int run(const Command& command, comm::Communicator& comm) {
  Session session{comm, detect_threads(comm.size(), comm.local_size()), &stop_requested,
                  terminal_sinks()};
  try {
    if (comm.size() > 1) session.threads.own_cores = own_cores(comm);
    const SubVerb* const sub = called_of(command);
    require_ranks(comm, "winnow " + command.verb.name() + (sub ? " " + sub->verb.name() : ""),
                  sub ? sub->uses_ranks : command.uses_ranks);
    run_called(command, session);
    flush_report();
    return 0;
  } catch (const comm::PeerError& error) {
    return error.exit_code();  // the rank that failed has said why
  } catch (const std::exception& error) {
    const int code = comm::exit_code_of_current_exception();
    const std::string where = comm.size() > 1 ? fmt::format("rank {}: ", comm.rank()) : "";
    const std::string what = printable_sentence(error.what());
    say_line(fmt::format("winnow: {}{}", where,
                         what == "std::bad_alloc" ? "there is not enough memory for this" : what));
    // Others may be waiting for this rank in a collective, unless they know.
    const bool agreed = dynamic_cast<const comm::AgreedError*>(&error) != nullptr;
    if (comm.size() > 1 && !agreed) comm.abort(code);
    return code;
  }
}

std::string sentence_of(const CLI::App& program, const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kUnknown = "INI was not able to parse ";
  if (!text.starts_with(kUnknown)) return text;
  for (const std::string& path : program.get_config_ptr()->results()) {
    const std::string why = train::why_no_toml(path);
    if (!why.empty()) return path + ": " + why;
  }
  return "the configuration file has an unknown option: " + text.substr(kUnknown.size());
}

constexpr const char* kFooter =
    R"(Exit codes: 0 done, 1 failed, 2 wrong usage, 3 data refused by a gate, 75 stopped by Ctrl-C,
SIGTERM, SIGUSR1 or SIGHUP with what was finished kept: run the same command again to go on.
`winnow help VERB`, or `winnow VERB --help`, shows a verb's options with examples, --help-all the
rarer ones of the large verbs, too. Any option --some-name of a verb can also be given as the
environment variable WINNOW_VERB_SOME_NAME.)";

void describe(CLI::App& program) {
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("winnow ") + WINNOW_VERSION);
  program.set_help_all_flag("--help-all", "Print this with every option");
  program.set_config(
      "--config", "",
      "Read options from a TOML file: a section for each verb, and [augment] for train");
  read_augment_table(program);
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.footer(kFooter);
}

// What `winnow` alone says first.
std::string verbs_in_groups(const CLI::App& program) {
  const CLI::Formatter help;
  return program.get_description() + "\n" +
         help.make_subcommands(&program, CLI::AppFormatMode::Normal);
}

// Takes variables that CLI11 2.4 passes over, as if they were not set: of options in groups, and
// those whose value is none of the option's, which are errors as with 2.1. `app` was parsed.
void take_environment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_envname().empty() || option->count() > 0) continue;
    const char* const value = std::getenv(option->get_envname().c_str());
    if (value == nullptr || *value == '\0') continue;
    option->add_result(value);
    option->run_callback();
  }
  const auto belongs = [](const CLI::App* part) {
    return part->get_name().empty() || part->parsed();
  };
  for (CLI::App* part : app.get_subcommands(belongs)) take_environment(*part);
}

// The exit code, where `program` has done all that was asked of it: said what it is, or what is
// wrong with the words it was given.
std::optional<int> parse(CLI::App& program, int argc, char** argv) {
  const std::vector<std::string> words = in_flags({argv, argv + argc});
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    program.parse(static_cast<int>(pointers.size()), pointers.data());
    take_environment(program);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const bool is_help = error.get_exit_code() == 0;  // or --version
    const bool may_be_typo = is_help || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                             dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const std::string unknown = may_be_typo ? unknown_word(program) : "";
    if (is_help && unknown.empty()) {
      std::ostringstream text;
      program.exit(error, text, text);
      fmt::print("{}", wrapped_help(text.str(), help_columns(STDOUT_FILENO)));
      return 0;
    }
    if (argc == 1) say_line(wrapped_help(verbs_in_groups(program), help_columns(STDERR_FILENO)));
    const std::string what =
        unknown.empty() ? sentence_of(program, error) + "; see " + parsed_verb(program) + " --help"
                        : unknown;
    say_line("winnow: " + printable(what));
    return 2;
  } catch (const Error& error) {  // of what --show looks at
    say_failure(error.what());
    return comm::exit_code_of_current_exception();
  }
}

// Open MPI's launcher sends SIGTERM to its ranks where it gets that or Ctrl-C.
void warn_of_mpirun(const Command& command, const comm::Communicator& comm) {
  const bool by_mpirun = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  if (!command.stops || !by_mpirun || comm.rank() != 0) return;
  set_words_at_term(
      "\nwinnow: stopping; mpirun ends all ranks within a second of Ctrl-C or SIGTERM, and what is "
      "not saved by then is lost: run the same command again, train with --resume auto, and next "
      "time send SIGUSR1 to mpirun, which waits\n");
}

// A flag of `verb` or one of its groups; nullptr where it has none.
const CLI::Option* find_flag(const CLI::App& verb, const std::string& flag) {
  if (const CLI::Option* option = verb.get_option_no_throw(flag)) return option;
  for (const CLI::App* group : verb.get_subcommands([](const CLI::App*) { return true; })) {
    if (!group->get_name().empty()) continue;
    if (const CLI::Option* option = find_flag(*group, flag)) return option;
  }
  return nullptr;
}

double seconds_of(const CLI::Option* flag, double otherwise) {
  return flag != nullptr && flag->count() > 0 ? flag->as<double>() : otherwise;
}

void say_who_is_not_reached(const Introduction& self, const std::vector<std::string>& texts) {
  constexpr double kPatience = 2;  // seconds, in which a machine of one network answers
  std::vector<Introduction> others;
  for (const std::string& text : texts) {
    if (auto other = parse_introduction(text)) others.push_back(std::move(*other));
  }
  const std::vector<Tried> tried = try_machines(std::move(others), self.cards, kPatience);
  for (const std::string& sentence : reach_sentences(self.host, tried)) say_line(sentence);
}

std::unique_ptr<comm::Communicator> join_ranks(const CLI::App& verb) {
  constexpr double kWarning = 10;  // as of train
  constexpr double kTimeout = 1800;
  constexpr const char* kFlag = "--hang-timeout";
  const CLI::Option* const timeout = find_flag(verb, kFlag);
  const double warning_s = seconds_of(find_flag(verb, "--stall-warning"), kWarning);
  const StartupWatch watch(warning_s, seconds_of(timeout, kTimeout),
                           timeout != nullptr ? kFlag : "");
  if (warning_s <= 0 || !speaks_for_machine() || !launched_by_open_mpi()) {
    return comm::make_mpi(&say_failure);
  }
  const Doorbell doorbell;
  if (doorbell.port() == 0) return comm::make_mpi(&say_failure);
  const Introduction self{host_name(), doorbell.port(), network_cards()};
  return comm::make_mpi(&say_failure, {.own = to_text(self),
                                       .after_s = warning_s,
                                       .take = [&](const std::vector<std::string>& others) {
                                         say_who_is_not_reached(self, others);
                                       }});
}

// In the order of the help, a row a group.
std::vector<Command> verbs_of(Verb program) {
  using Add = Command (*)(Verb);
  struct Group {
    const char* title;
    std::vector<Add> verbs;
  };
  const std::vector<Group> groups{
      {"Duplicates and splits",
       {add_dedup, add_review, add_tune, add_split, add_index, add_hash, add_export}},
      {"Caches of images", {add_ingest, add_info, add_verify, add_compact, add_cache}},
      {"Training", {add_plan, add_train, add_eval, add_predict, add_embed, add_suspects, add_onnx}},
      {"Several runs", {add_watch, add_report, add_compare, add_sweep, add_tune_lr}},
      {"This machine", {add_doctor, add_bench, add_reference}},
  };
  std::vector<Command> commands;
  for (const auto& [title, verbs] : groups) {
    for (const Add add : verbs) {
      commands.push_back(add(program));
      commands.back().verb.group(title);
    }
  }
  return commands;
}

int main_of(int argc, char** argv) {
  CLI::App program{
      "winnow: from labelled images to a trained network, aware of duplicates all the way"};
  describe(program);
  const std::vector<Command> commands = verbs_of(Verb(program));
  for (const Command& command : commands) {
    name_environment(command.verb.app(), command.verb.name());
  }
  if (const std::optional<int> done = parse(program, argc, argv)) return *done;
  if (const std::string unknown = unknown_variable(program); !unknown.empty()) {
    say_failure(unknown);
    return 2;
  }
  const auto chosen = std::find_if(commands.begin(), commands.end(),
                                   [](const Command& c) { return c.verb.called(); });
  explain_bus_errors();
  stop_on_signals(chosen->stops);
  std::unique_ptr<comm::Communicator> comm;
  try {
    const bool joins = comm::mpi_built() && comm::launched_by_mpi();
    comm = joins ? join_ranks(chosen->verb.app()) : comm::make_single();
  } catch (const std::exception& error) {
    say_failure(error.what());
    return 1;
  }
  warn_of_mpirun(*chosen, *comm);
  return run(*chosen, *comm);
}

}  // namespace
}  // namespace winnow::tools

int main(int argc, char** argv) {
  winnow::keep_standard_streams();
  winnow::tools::stop_on_signals(/*asks=*/false);  // until the verb is known
  winnow::tools::decide_openmp_waiting(argv);
  return winnow::tools::main_of(argc, argv);
}
