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

// Time limits for a running job in seconds: when a stall is reported, and when a hanging job ends
// itself.
struct HealthFlags {
  double stall_s = 10;   // stall warning; 0: ranks exchange no heartbeats
  double hang_s = 1800;  // end of a hanging job; 0: never
};

void add_health_flags(Verb group, HealthFlags& flags);

// Monitors the health of a running job (common/health): heartbeats between its ranks, warnings on
// stderr and in RUN/health/HOST.log on each machine that has the run's folder, and the end of a job
// that hangs.
class TrainHealth {
 public:
  // Starts monitoring. Collective. `run`: folder of the run. `session` must outlive this object.
  // Throws  UsageError: a hang timeout below the stall warning
  TrainHealth(const HealthFlags& flags, const std::filesystem::path& run, const Session& session);
  TrainHealth(const TrainHealth&) = delete;
  TrainHealth& operator=(const TrainHealth&) = delete;

  // The session to use meanwhile: its communicator records what this rank waits for.
  Session& session() noexcept { return session_; }
  health::Board* board() noexcept { return &board_; }

  // Passes messages for the user to `take`, from a thread of its own, instead of stderr, while the
  // object lives.
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
  std::optional<health::WatchedCommunicator> comm_;  // only if there are several ranks
  Session session_;
  std::unique_ptr<health::Monitor> monitor_;  // last member: its thread uses the members above
};

}  // namespace winnow::tools
