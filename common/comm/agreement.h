#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/comm/communicator.h"
#include "common/error.h"

namespace winnow::comm {

// A failure known to every rank: all stop by themselves, and none needs to be killed.
class AgreedError : public Error {
 public:
  AgreedError(const std::string& message, int exit_code) : Error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// AgreedError on a rank that did not fail: another one reports the reason.
class PeerError : public AgreedError {
 public:
  explicit PeerError(int exit_code) : AgreedError("another rank failed", exit_code) {}
};

// Exit code of the current exception: 2 for UsageError, 3 for RefusedError, 75 for StoppedError,
// else 1.
int exit_code_of_current_exception() noexcept;

// Runs `work` on rank 0. If it throws, every rank throws, as in on_all().
void on_root(Communicator& comm, const std::function<void()>& work);

// Runs `work` on every rank. If it throws on one, every rank throws. Collective.
//
// In      `work` must not communicate.
// Errors  Rank 0 throws its own error. If rank 0 succeeds, the failed ranks throw theirs. All
//         others throw PeerError, so that a common failure is reported once. A single rank throws
//         what `work` threw.
void on_all(Communicator& comm, const std::function<void()>& work);

// Compares what must be equal on all ranks (build, instruction set, configuration, digests of cache
// and selection) with rank 0's. Collective.
//
// Errors  Error on the ranks that differ, naming rank and keys.
void require_agreement(Communicator& comm, const std::map<std::string, std::string>& facts);

}  // namespace winnow::comm
