#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "common/comm/mpi/operation_internal.h"

namespace winnow::comm {

// What the callers of an engine want of its thread: operations, and orders to end.
//
// Threads  any, but take() is the engine's
class Inbox {
 public:
  // Orders stay once they are given.
  struct Orders {
    bool stop = false;
    bool discard = false;           // with stop: at once
    std::optional<int> abort_code;  // before anything else
  };

  void put(std::unique_ptr<Operation> operation);
  void stop(bool discard) noexcept;
  void abort(int exit_code) noexcept;

  // Moves the operations that were put to the end of `running`. While `running` is empty it waits
  // for an operation or an order, at most the time of a heartbeat.
  //
  // Out  the orders; none: the wait was in vain
  std::optional<Orders> take(Operations& running);

  std::optional<int> abort_code() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Operations operations_;
  Orders orders_;
};

}  // namespace winnow::comm
