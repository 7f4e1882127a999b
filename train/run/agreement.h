#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/comm/communicator.h"
#include "common/error.h"

namespace winnow::train {

// Another rank failed and has said why; this one only has to stop, with the same exit code.
class PeerError : public Error {
 public:
  explicit PeerError(int exit_code) : Error("another rank failed"), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

// Exit code of the exception now being handled: 2 for UsageError, 3 for RefusedError, else 1.
int exit_code_of_current_exception() noexcept;

// Runs `work` on rank 0; when it throws there, every rank throws (PeerError on the others).
void on_root(comm::Communicator& comm, const std::function<void()>& work);

// Runs `work` on every rank; when it throws on one, every rank throws: rank 0 its own error, or
// where it is well the failed ones theirs, and the others PeerError, so that a failure common to
// all is told once. `work` must not communicate.
void on_all(comm::Communicator& comm, const std::function<void()>& work);

// Compares what must be equal on all ranks (build, instruction set, configuration, digests of cache
// and selection) with rank 0's; the ranks that differ throw an Error naming rank and keys.
void require_agreement(comm::Communicator& comm, const std::map<std::string, std::string>& facts);

}  // namespace winnow::train
