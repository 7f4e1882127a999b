#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "common/comm/communicator.h"
#include "train/graph/graph.h"

namespace winnow::train {

// Passes values of an evaluation from stage to stage of a pipeline: those at the end of one stage
// to a rank of the next.
//
// Lanes    Call from their own threads. Each lane (program replica) has one value that it receives,
//          and one that it sends, at a time.
// Numbers  A rank numbers its receives 0, 1, 2 ..., and so its sends. Whatever the order of calls,
//          they start in the order of their numbers, because ranks must agree on the order of
//          messages.
class Passage {
 public:
  // graph  What the lanes compute: a stage. `wire`: form of the numbers in messages.
  Passage(const Graph& graph, std::size_t lanes, comm::Wire wire, comm::Communicator& comm);

  // Waits for values from rank `from`. They are valid until the lane's next receive.
  // Throws  SystemError; Error after give_up().
  std::span<float> receive(std::size_t lane, int from, std::int64_t number);

  // Starts to send a copy of `values` to rank `to`. Waits until the lane's last send has ended.
  // Throws  SystemError; Error after give_up().
  void send(std::size_t lane, int to, std::int64_t number, std::span<const float> values);

  // Ends all waiting for earlier numbers, now and later, because a lane has failed.
  void give_up() noexcept;

 private:
  struct Way {
    std::vector<float> values;
    std::vector<comm::Transfer> transfers;
    comm::Pending pending{};  // destroyed first, because it waits for what uses the others
  };
  struct Lane {
    Way in;
    Way out;
  };

  void start(Way& way, const comm::Transfer& transfer, std::uint32_t group, std::int64_t number,
             std::int64_t& next);

  const comm::Wire wire_;
  comm::Communicator& comm_;
  std::mutex mutex_;  // guards the starts of messages and the following members
  std::condition_variable changed_;
  std::int64_t next_receive_ = 0;
  std::int64_t next_send_ = 0;
  bool gave_up_ = false;
  std::vector<Lane> lanes_;
};

}  // namespace winnow::train
