#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/comm/communicator.h"
#include "common/error.h"

namespace winnow::comm {

// A failure that every rank knows of: all of them stop on their own, nobody has to be torn down.
class AgreedError : public Error {
 public:
  AgreedError(const std::string& message, int exit_code) : Error(message), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// The same on a rank that has nothing to say: another one tells why.
class PeerError : public AgreedError {
 public:
  explicit PeerError(int exit_code) : AgreedError("another rank failed", exit_code) {}
};

// Exit code of the exception now being handled: 2 for UsageError, 3 for RefusedError, 75 for
// StoppedError, else 1.
int exit_code_of_current_exception() noexcept;

// Runs `work` on rank 0. When it throws there, every rank throws, as on_all does.
void on_root(Communicator& comm, const std::function<void()>& work);

// Runs `work` on every rank. When it throws on one, every rank throws.
//
// In      `work` must not communicate
// Throws  rank 0 its own error. Where rank 0 is well, the failed ranks theirs. All others
// PeerError:
//         a failure common to all is told once. A rank alone throws what `work` did
void on_all(Communicator& comm, const std::function<void()>& work);

// Compares what must be equal on all ranks (build, instruction set, configuration, digests of cache
// and selection) with rank 0's.
//
// Throws  Error on the ranks that differ, naming rank and keys
void require_agreement(Communicator& comm, const std::map<std::string, std::string>& facts);

}  // namespace winnow::comm
