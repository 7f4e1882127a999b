#include "tools/program.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <string_view>

#include "app/launch/check_launch.h"
#include "app/printable.h"
#include "common/comm/agreement.h"
#include "common/comm/mpi/launcher.h"
#include "common/comm/mpi/mpi.h"
#include "common/cores.h"
#include "common/error.h"
#include "tools/augment_config.h"
#include "tools/help.h"
#include "tools/reference/text.h"
#include "tools/sub_verb.h"
#include "tools/wrapped.h"
#include "train/nets/net_file.h"

namespace winnow::tools {
namespace {

// Also from ranks other than 0.
void tell(const Sinks& to, const std::string& sentence) {
  if (to.sentence) to.sentence(sentence);
}

void tell_each_line(const Sinks& to, std::string_view text) {
  std::size_t end = 0;
  for (std::size_t begin = 0; end < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    tell(to, std::string(text.substr(begin, end - begin)));
  }
}

// Every option can come from the environment: --batch-size of train is WINNOW_TRAIN_BATCH_SIZE,
// --rounds of bench decode WINNOW_BENCH_DECODE_ROUNDS. `app`: the verb, one of its verbs or option
// groups.
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

// This rank's share of the cores that ranks of its machine may run on. Collective.
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
  describe_by_reference(program);
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

// The first part of the output of `winnow` alone.
std::string verbs_in_groups(const CLI::App& program) {
  return program.get_description() + "\n" + verbs_text(reference_of(program));
}

void read_words(CLI::App& app, const std::vector<const char*>& words) {
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::RequiredError&) {
    Verb(app).take_environment();  // invalid values are reported before missing ones
    throw;
  }
  Verb(app).take_environment();
}

std::string with_place(const std::string& sentence, const std::string& verb) {
  return sentence + (sentence.ends_with('?') ? " See " : "; see ") + verb + " --help";
}

// Prints what is wrong with the words, and where to look; or the help that was asked for.
// Out  the exit code
int explain(const CLI::App& program, const CLI::ParseError& error, bool no_words, const Sinks& to) {
  const bool is_help = error.get_exit_code() == 0;  // or --version
  const bool may_be_typo = is_help || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                           dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string unknown = may_be_typo ? unknown_word(program) : "";
  if (is_help && unknown.empty()) {
    std::ostringstream text;
    program.exit(error, text, text);
    const bool is_result = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    const std::size_t columns = is_result ? 0 : help_columns(STDOUT_FILENO);
    if (to.lines) to.lines(wrapped_help(text.str(), columns));
    return 0;
  }
  if (no_words) {
    tell_each_line(to, wrapped_help(verbs_in_groups(program), help_columns(STDERR_FILENO)));
  }
  const std::string what = no_words ? "no verb was given; `winnow help VERB` shows a verb's options"
                           : unknown.empty()
                               ? with_place(sentence_of(program, error), parsed_verb(program))
                               : unknown;
  tell(to, "winnow: " + what);
  return 2;
}

// In the order of the help, one row per group.
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

// Checks, before a verb does anything, whether the processes of this launch are ranks, and whether
// they may be. `command`: "winnow train". A verb without ranks leaves the launch, because processes
// that it starts are no ranks of it.
//
// Throws  UsageError, on all ranks: several processes run a verb with ranks but are not, all, ranks
//         of one job; several ranks run a verb without ranks
void require_ranks(comm::Communicator& comm, const std::string& command, bool uses_ranks) {
  const comm::Launch launch = comm::this_launch();
  comm::on_all(comm, [&] {
    if (uses_ranks) {
      const bool fits = launch.size == 1 || launch.size == comm.size();
      const std::string library = fits ? "" : comm::mpi_library();
      const std::string fault =
          app::launch_fault(launch, {comm::mpi_built(), library, comm.size()}, command);
      if (!fault.empty()) throw UsageError(fault);
    } else if (comm.size() > 1 || comm::joins_mpi(launch)) {
      throw UsageError(command + " runs as one process; start it without mpirun");
    }
  });
  if (!uses_ranks) comm::leave_launch();
}

}  // namespace

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "winnow: find duplicate images, split without leaks, train on what is left")) {
  describe(*app_);
  commands_ = verbs_of(Verb(*app_));
  for (const Command& command : commands_) {
    name_environment(command.verb.app(), command.verb.name());
  }
}

Program::~Program() = default;

std::optional<int> Program::parse(std::vector<std::string> words, const Sinks& to) {
  const bool no_words = words.size() == 1;
  words = in_flags(std::move(words));
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  try {
    read_words(*app_, pointers);
  } catch (const CLI::ParseError& error) {
    return explain(*app_, error, no_words, to);
  } catch (const Error& error) {  // in the cache that --show reads
    tell(to, failure(error.what()));
    return comm::exit_code_of_current_exception();
  }
  const std::string unknown = unknown_variable(*app_);
  if (unknown.empty()) return std::nullopt;
  tell(to, failure(unknown));
  return 2;
}

const Command& Program::called() const {
  return *std::ranges::find_if(commands_, [](const Command& c) { return c.verb.called(); });
}

int run(const Command& command, Session& session, const std::function<void()>& put_out) {
  comm::Communicator& comm = session.comm;
  try {
    if (comm.size() > 1) session.threads.own_cores = own_cores(comm);
    const SubVerb* const sub = called_of(command);
    require_ranks(comm, "winnow " + command.verb.name() + (sub ? " " + sub->verb.name() : ""),
                  sub ? sub->uses_ranks : command.uses_ranks);
    run_called(command, session);
    put_out();
    return 0;
  } catch (const comm::PeerError& error) {
    return error.exit_code();  // the failing rank has reported the reason
  } catch (const std::exception& error) {
    const int code = comm::exit_code_of_current_exception();
    const std::string where = comm.size() > 1 ? fmt::format("rank {}: ", comm.rank()) : "";
    const std::string what = printable_sentence(error.what());
    tell(session.to,
         fmt::format("winnow: {}{}", where,
                     what == "std::bad_alloc" ? "there is not enough memory for this" : what));
    // Other ranks may wait for this one in a collective, unless they know of the error.
    const bool agreed = dynamic_cast<const comm::AgreedError*>(&error) != nullptr;
    if (comm.size() > 1 && !agreed) comm.abort(code);
    return code;
  }
}

std::string failure(const std::string& why) { return "winnow: " + printable_sentence(why); }

}  // namespace winnow::tools
