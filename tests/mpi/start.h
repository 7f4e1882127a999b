#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/comm/communicator.h"

namespace winnow::comm {

// Starts the all-reduce of `buffer` by the named schedule. The result keeps the transfers alive.
template <class T>
Pending start(Communicator& comm, std::vector<T>& buffer, std::string_view schedule,
              const ScheduleOptions& options, Reduction reduction = Reduction::kSum) {
  const auto transfers = std::make_shared<const std::vector<Transfer>>(
      find_schedule(schedule).all_reduce(comm.placement(), buffer.size(), options));
  const auto pending = std::make_shared<Pending>([&] {
    if constexpr (std::is_floating_point_v<T>) {
      return comm.start_all_reduce(buffer, *transfers);
    } else {
      return comm.start_all_reduce(buffer, reduction, *transfers);
    }
  }());
  return Pending([transfers, pending] { pending->wait(); });
}

}  // namespace winnow::comm
