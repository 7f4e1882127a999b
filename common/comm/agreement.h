#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/comm/communicator.h"
#include "common/error.h"

namespace winnow::comm {

// An error that every rank knows of: each rank ends by itself with exit_code(), and none needs to
// be killed.
class AgreedError : public Error {
 public:
  AgreedError(const std::string& message, int exit_code) : Error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// An AgreedError on a rank that did not fail itself: another rank reports the reason.
class PeerError : public AgreedError {
 public:
  explicit PeerError(int exit_code) : AgreedError("another rank failed", exit_code) {}
};

// The exit code for the exception that is being handled: 2 for UsageError, 3 for RefusedError, 75
// for StoppedError, else 1.
int exit_code_of_current_exception() noexcept;

// Runs `work` on rank 0. If it throws, every rank throws, as on_all() says.
void on_root(Communicator& comm, const std::function<void()>& work);

// Runs `work` on every rank. If it throws on one rank, every rank throws. Collective: called by all
// ranks.
//
// In      `work` must not communicate.
// Errors  If rank 0 failed, it throws its own error. Else the failed ranks throw theirs. All other
//         ranks throw PeerError, so that a common failure is reported once. With one rank: what
//         `work` threw.
void on_all(Communicator& comm, const std::function<void()>& work);

// Checks that all ranks have equal `facts`: build, instruction set, configuration, digests of cache
// and selection. Each rank compares its own with those of rank 0. Collective: called by all ranks.
//
// Errors  Error on the ranks that differ, naming rank and keys.
void require_agreement(Communicator& comm, const std::map<std::string, std::string>& facts);

}  // namespace winnow::comm
