#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/comm/agreement.h"
#include "common/comm/mpi/mpi.h"
#include "common/error.h"
#include "tools/augment_config.h"
#include "tools/command.h"
#include "tools/openmp_waiting.h"

namespace winnow::tools {
namespace {

// Any option can come from the environment: --batch-size of train is WINNOW_TRAIN_BATCH_SIZE, and
// --rounds of bench decode WINNOW_BENCH_DECODE_ROUNDS. `app` is the verb, a verb of its own or one
// of its option groups.
void name_environment(CLI::App& app, const std::string& verb) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
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

// When the first signal of a kind came, in ms of a clock that never reads 0; 0: not yet. Static
// because a signal handler reaches nothing else; only main knows of them.
std::atomic<std::int64_t> first_term{0};
std::atomic<std::int64_t> first_usr1{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

bool signalled() { return first_term != 0 || first_usr1 != 0; }

// The first one asks to stop, a second one of the same kind ends the process. Those within a second
// are one: batch systems signal every process of a job, and mpirun hands on what it gets.
extern "C" void note_signal(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000 + 1;
  std::int64_t first = 0;
  std::atomic<std::int64_t>& seen = number == SIGTERM ? first_term : first_usr1;
  if (seen.compare_exchange_strong(first, ms) || ms - first <= 1000) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

std::atomic<bool> has_bus_error{false};

// A page of a mapped file that is no longer there, or does not come. No more than this is allowed
// in a handler; the pages of others are whole, so ending here loses nothing.
extern "C" void say_bus_error(int) {
  if (has_bus_error.exchange(true)) {
    for (;;) ::pause();  // another thread says it
  }
  constexpr std::string_view kSentence =
      "winnow: a file was cut short, or its storage failed, while it was being read, as when a "
      "cache "
      "is overwritten in place; put it back, and run the same command again\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(1);
}

// SIGTERM is what batch systems and people end work by, SIGUSR1 what batch systems warn by.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = &note_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
}

// A report that went to a full disk or a closed pipe is lost, and only the last flush knows.
void flush_report() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_errno("cannot write to the standard output");
  }
}

void say_failure(const std::string& why) { fmt::print(stderr, "winnow: {}\n", printable(why)); }

int run(const Command& command, comm::Communicator& comm) {
  Session session{comm, detect_threads(comm.size(), comm.local_size()), &signalled};
  try {
    comm::on_all(comm, [&] {
      if (comm.size() == 1 || command.uses_ranks) return;
      throw UsageError("winnow " + command.app->get_name() +
                       " runs as one process; start it without mpirun");
    });
    command.run(session);
    flush_report();
    return 0;
  } catch (const comm::PeerError& error) {
    return error.exit_code();  // the rank that failed has said why
  } catch (const std::exception& error) {
    const int code = comm::exit_code_of_current_exception();
    const std::string where = comm.size() > 1 ? fmt::format("rank {}: ", comm.rank()) : "";
    const std::string what = printable(error.what());
    fmt::print(stderr, "winnow: {}{}\n", where,
               what == "std::bad_alloc" ? "there is not enough memory for this" : what);
    // Others may be waiting for this rank in a collective, unless they know.
    const bool agreed = dynamic_cast<const comm::AgreedError*>(&error) != nullptr;
    if (comm.size() > 1 && !agreed) comm.abort(code);
    return code;
  }
}

// What CLI11 says of a number out of range names the largest number there is, in 309 digits.
std::string sentence_of(const CLI::ParseError& error) {
  std::string text = error.what();
  const std::string range =
      " not in range 0.000000 to " + std::to_string(std::numeric_limits<double>::max());
  if (const std::size_t at = text.find(range); at != std::string::npos) {
    text.replace(at, range.size(), " is too small or no number");
  }
  constexpr std::string_view kUnknown = "INI was not able to parse ";
  if (text.starts_with(kUnknown)) {
    text.replace(0, kUnknown.size(), "the configuration file has an unknown option: ");
  }
  return text;
}

int main_of(int argc, char** argv) {
  CLI::App program{
      "winnow: from labelled images to a trained network, aware of duplicates all the way"};
  program.require_subcommand(1);
  program.set_version_flag("--version", std::string("winnow ") + WINNOW_VERSION);
  program.set_config(
      "--config", "",
      "Read options from a TOML file: a section for each verb, and [augment] for train");
  read_augment_table(program);
  program.allow_config_extras(CLI::config_extras_mode::error);
  program.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 data refused by a gate, 75 stopped by\n"
      "SIGTERM or SIGUSR1 with what was finished kept: run the same command again to go on.\n"
      "`winnow VERB --help` shows a verb's options with examples. Any option --some-name of a "
      "verb\n"
      "can also be given as the environment variable WINNOW_VERB_SOME_NAME.");
  const std::vector<Command> commands{add_ingest(program),  add_dedup(program), add_split(program),
                                      add_train(program),   add_eval(program),  add_export(program),
                                      add_compact(program), add_info(program),  add_verify(program),
                                      add_cache(program),   add_hash(program),  add_tune(program),
                                      add_index(program),   add_bench(program)};
  for (const Command& command : commands) {
    name_environment(*command.app, command.app->get_name());
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    fmt::print(stderr, "winnow: {}; see {} --help\n", printable(sentence_of(error)),
               program.get_subcommands().empty()
                   ? std::string("winnow")
                   : "winnow " + program.get_subcommands().front()->get_name());
    return 2;
  }
  const auto chosen = std::find_if(commands.begin(), commands.end(),
                                   [](const Command& c) { return c.app->parsed(); });
  std::signal(SIGBUS, &say_bus_error);
  if (chosen->stops && (!chosen->only_if || chosen->only_if())) stop_on_signals();
  std::unique_ptr<comm::Communicator> comm;
  try {
    comm = comm::launched_by_mpi() ? comm::make_mpi(&say_failure) : comm::make_single();
  } catch (const std::exception& error) {
    fmt::print(stderr, "winnow: {}\n", error.what());
    return 1;
  }
  return run(*chosen, *comm);
}

}  // namespace
}  // namespace winnow::tools

int main(int argc, char** argv) {
  winnow::tools::decide_openmp_waiting(argv);
  return winnow::tools::main_of(argc, argv);
}
