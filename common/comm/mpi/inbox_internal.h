#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "common/comm/mpi/operation_internal.h"

namespace winnow::comm {

// Requests from the engine's callers to its thread: new operations, and orders to end.
//
// Threads  Any; take() is only for the engine's thread.
class Inbox {
 public:
  // Orders are permanent.
  struct Orders {
    bool stop = false;
    bool discard = false;           // with stop: at once
    std::optional<int> abort_code;  // takes precedence
  };

  void put(std::unique_ptr<Operation> operation);
  void stop(bool discard) noexcept;
  void abort(int exit_code) noexcept;

  // Moves submitted operations to the end of `running`. If `running` is empty, waits for an
  // operation or an order, at most for the time of a heartbeat.
  //
  // Out  The orders to end; nullopt: there are none.
  std::optional<Orders> take(Operations& running);

  std::optional<int> abort_code() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Operations operations_;
  Orders orders_;
};

}  // namespace winnow::comm
