#pragma once

#include <memory>
#include <string>

#include "app/session.h"
#include "common/comm/communicator.h"
#include "python/core/listener.h"

namespace winnow::python {

// A session for running a verb (command of winnow) in Python on one rank. It stops when the
// listener says so, and reports progress to it. The listener must outlive it.
struct LoneSession {
  explicit LoneSession(Listener& listener)
      : comm(comm::make_single()),
        session{*comm, detect_threads(comm->size(), comm->local_size()), listener.stop(), {}} {
    session.to.bar = [&listener](const std::string&, const std::string&) {
      return listener.sink();
    };
  }

  std::unique_ptr<comm::Communicator> comm;
  app::Session session;
};

}  // namespace winnow::python
