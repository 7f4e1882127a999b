#include <sys/auxv.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/comm/mpi/mpi.h"
#include "common/error.h"
#include "common/host_name.h"
#include "common/to_stderr.h"
#include "tools/command.h"
#include "tools/program.h"
#include "tools/startup_reach.h"
#include "tools/startup_watch.h"
#include "tools/stop_signals.h"

namespace winnow::tools {
namespace {

// Only the last flush tells that a report was lost to a full disk or a closed pipe.
void flush_report() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw_errno("cannot write to the standard output");
  }
}

void say_failure(const std::string& why) { say_line(failure(why)); }

// Open MPI's launcher sends its ranks SIGTERM when it gets SIGTERM or Ctrl-C itself.
void warn_of_mpirun(const Command& command, const comm::Communicator& comm) {
  const bool by_mpirun = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr;
  if (!command.stops || !by_mpirun || comm.rank() != 0) return;
  set_words_at_term(
      "\nwinnow: stopping; mpirun ends all ranks within a second of Ctrl-C or SIGTERM, and what is "
      "not saved by then is lost: run the same command again, train with --resume auto, and next "
      "time send SIGUSR1 to mpirun, which waits\n");
}

// A flag of `verb` or one of its groups; nullptr if it has none.
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
  constexpr double kPatience = 2;  // seconds in which a machine on the same network answers
  std::vector<Introduction> others;
  for (const std::string& text : texts) {
    if (auto other = parse_introduction(text)) others.push_back(std::move(*other));
  }
  const std::vector<Tried> tried = try_machines(std::move(others), self.cards, kPatience);
  for (const std::string& sentence : reach_sentences(self.host, tried)) say_line(sentence);
}

std::unique_ptr<comm::Communicator> join_ranks(const CLI::App& verb) {
  constexpr double kWarning = 10;  // default of train
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

int main_of(int argc, char** argv) {
  const Sinks to = terminal_sinks();
  Program program;
  if (const std::optional<int> done = program.parse({argv, argv + argc}, to)) return *done;
  const Command& chosen = program.called();
  explain_bus_errors();
  stop_on_signals(chosen.stops);
  std::unique_ptr<comm::Communicator> comm;
  try {
    const bool joins = comm::mpi_built() && comm::launched_by_mpi();
    comm = joins ? join_ranks(chosen.verb.app()) : comm::make_single();
  } catch (const std::exception& error) {
    say_failure(error.what());
    return 1;
  }
  warn_of_mpirun(chosen, *comm);
  Session session{*comm, detect_threads(comm->size(), comm->local_size()), &stop_requested, to};
  return run(chosen, session, &flush_report);
}

// Options are not parsed yet. A word that only looks like a verb costs one more start.
bool computes(char** argv) {
  for (char** word = argv; *word != nullptr; ++word) {
    if (*word == std::string_view("train") || *word == std::string_view("eval")) return true;
  }
  return false;
}

// Decides how idle OpenMP threads wait, for the whole process: they spin briefly, then sleep.
// docs/hardware.md has the measurements behind these values.
//
// In          `argv`: the words of this process
// Out         OMP_WAIT_POLICY=passive and GOMP_SPINCOUNT in the environment of train and eval. The
//             OpenMP library reads them when it is loaded, so the program executes itself once
//             more: same words, same process id.
// Unchanged   other verbs; variables that the user set; a program that cannot execute itself
// Call it     First in main: before MPI, threads, open files, and a configuration from a pipe.
void decide_openmp_waiting(char** argv) {
  if (!computes(argv)) return;
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  // Started as `ld.so winnow`: /proc/self/exe is the loader, which takes other words.
  if (getauxval(AT_BASE) == 0) return;
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::setenv("GOMP_SPINCOUNT", "1000", 0);
  // By its path, so that ps and pkill still show the name winnow. If the path is gone, by the link.
  std::error_code none;
  ::execv(std::filesystem::read_symlink("/proc/self/exe", none).c_str(), argv);
  ::execv("/proc/self/exe", argv);
  // Both return only on failure. Then training is slower on a shared machine, and as correct.
}

}  // namespace
}  // namespace winnow::tools

int main(int argc, char** argv) {
  winnow::keep_standard_streams();
  winnow::tools::stop_on_signals(/*asks=*/false);  // until the verb is known
  winnow::tools::decide_openmp_waiting(argv);
  return winnow::tools::main_of(argc, argv);
}
