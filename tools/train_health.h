#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/health/board.h"
#include "common/health/monitor.h"
#include "common/health/watched_communicator.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// When a running job is reported, and when it ends by itself. Seconds.
struct HealthFlags {
  double stall_s = 10;   // 0: ranks exchange no heartbeats
  double hang_s = 1800;  // 0: never
};

void add_health_flags(Verb group, HealthFlags& flags);

// The health of a running job (common/health): heartbeats between its ranks, warnings on stderr and
// in RUN/health/HOST.log on each machine that has the run's folder, the end of a job that hangs.
class TrainHealth {
 public:
  // Collective. `run`: the folder of the run. `session` must outlive it.
  // Throws  UsageError: a hang timeout below the stall warning
  TrainHealth(const HealthFlags& flags, const std::filesystem::path& run, const Session& session);
  TrainHealth(const TrainHealth&) = delete;
  TrainHealth& operator=(const TrainHealth&) = delete;

  // A session whose communicator records what this rank waits for.
  Session& session() noexcept { return session_; }
  health::Board* board() noexcept { return &board_; }

  // While it lives `take` gets messages for people, instead of stderr, from a thread of its own.
  class Listening {
   public:
    Listening(TrainHealth& health, std::function<void(const std::string&)> take);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    TrainHealth& health_;
  };

 private:
  void tell_people(const std::string& sentence);

  std::mutex mutex_;  // guards take_
  std::function<void(const std::string&)> take_;
  health::Board board_;
  std::optional<health::WatchedCommunicator> comm_;  // for several ranks
  Session session_;
  std::unique_ptr<health::Monitor> monitor_;  // last: its thread uses the members above
};

}  // namespace winnow::tools
