#include "tools/train_health.h"

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <utility>

#include "app/printable.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/health/join.h"
#include "common/to_stderr.h"
#include "tools/numbers.h"

namespace winnow::tools {
namespace {

namespace fs = std::filesystem;

// A log that cannot be written is skipped: the terminal shows the message, too.
void append_to_log(const fs::path& run, const std::string& host, const std::string& sentence) {
  std::error_code ignored;
  if (!fs::exists(run / "config.json", ignored)) return;  // on another machine, or not begun
  fs::create_directory(run / "health", ignored);
  std::ofstream log(run / "health" / (host + ".log"), std::ios::app);
  log << local_time("%Y-%m-%dT%H:%M:%S%z") << ' ' << sentence << '\n';
}

void say_to_people(const std::string& sentence) {
  const bool over_bar = isatty(STDERR_FILENO) == 1;  // which is drawn again
  say_line(fmt::format("{}winnow: {}", over_bar ? "\r\033[K" : "", sentence));
}

comm::Communicator& watched(std::optional<health::WatchedCommunicator>& own, health::Board& board,
                            bool wanted, const Session& session) {
  if (!wanted || session.comm.size() == 1) return session.comm;
  return own.emplace(session.comm, board);
}

}  // namespace

void add_health_flags(Verb group, HealthFlags& flags) {
  group
      .add_option("--stall-warning", flags.stall_s,
                  "Seconds without progress before a warning says which rank waits for which, or "
                  "for a disk, and why, on stderr and in health/HOST.log of --out; 0: no "
                  "heartbeats between ranks, and no --hang-timeout")
      .check(real_in(0.0, 1e6))
      .show_default();
  group
      .add_option(
          "--hang-timeout", flags.hang_s,
          "Seconds without progress of any rank before the job ends, with exit code 75 if there is "
          "a checkpoint to resume from, else 1; at most 60 if a rank's process is gone; 0: never")
      .check(real_in(0.0, 1e7))
      .show_default();
}

TrainHealth::TrainHealth(const HealthFlags& flags, const fs::path& run, const Session& session)
    : session_{watched(comm_, board_, flags.stall_s > 0, session), session.threads, session.stop,
               session.to} {
  if (flags.stall_s <= 0) return;
  comm::on_all(session.comm, [&] {
    if (flags.hang_s == 0 || flags.hang_s >= flags.stall_s) return;
    throw UsageError(
        fmt::format("--hang-timeout {} is shorter than --stall-warning {}: the job would end "
                    "without a warning; make it longer, or 0",
                    flags.hang_s, flags.stall_s));
  });
  health::Circle circle = health::join(session.comm);
  if (!circle.why_not.empty()) {
    say_line(fmt::format(
        "winnow: rank {}: {}; the run goes on, and a hang of this rank will not be reported",
        session.comm.rank(), circle.why_not));
  }
  const int rank = session.comm.rank();
  const std::string host = circle.members[static_cast<std::size_t>(rank)].host;
  health::Pulse pulse(rank, std::move(circle.members), circle.secret,
                      {.stall_s = flags.stall_s, .hang_s = flags.hang_s});
  health::MonitorSinks sinks{.adding_seconds = [&of = session.comm] { return of.adding_seconds(); },
                             .say =
                                 [this, run, host](const health::Sentence& sentence) {
                                   if (sentence.to_people) tell_people(printable(sentence.text));
                                   if (sentence.to_log)
                                     append_to_log(run, host, printable(sentence.text));
                                 },
                             .stop = session.stop,
                             .end_process = [](int exit_code) { ::_exit(exit_code); }};
  monitor_ = std::make_unique<health::Monitor>(std::move(pulse), std::move(circle.transport),
                                               board_, std::move(sinks));
}

void TrainHealth::tell_people(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (take_) return take_(sentence);
  say_to_people(sentence);
}

TrainHealth::Listening::Listening(TrainHealth& health, std::function<void(const std::string&)> take)
    : health_(health) {
  const std::lock_guard lock(health_.mutex_);
  health_.take_ = std::move(take);
}

TrainHealth::Listening::~Listening() {
  const std::lock_guard lock(health_.mutex_);
  health_.take_ = nullptr;
}

}  // namespace winnow::tools
