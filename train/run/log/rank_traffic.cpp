#include "train/run/log/rank_traffic.h"

#include <cstddef>
#include <vector>

#include "common/comm/schedule/transfer.h"

namespace winnow::train {
namespace {

void add(Traffic& traffic, const std::vector<comm::Transfer>& transfers, std::size_t bytes) {
  for (const comm::Transfer& transfer : transfers) {
    const bool sends = transfer.kind == comm::Transfer::Kind::kSend;
    (sends ? traffic.sent : traffic.received) += transfer.count * bytes;
  }
}

// Bytes of a bucket's element in a message.
std::size_t message_bytes(Sums sums) {
  if (sums == Sums::kWholeNumbers) return sizeof(std::int64_t);
  return sends_bf16(sums) ? 2 : sizeof(float);
}

}  // namespace

Traffic traffic_of_step(const Execution& execution) {
  const SumTransfers& transfers = execution.transfers;
  const std::size_t bytes = message_bytes(execution.sums);
  Traffic traffic;
  for (const auto& bucket : transfers.buckets) add(traffic, bucket, bytes);
  for (const auto& [bucket, parts] : transfers.parts) add(traffic, parts.between, bytes);
  add(traffic, transfers.exponents, sizeof(std::int32_t));
  add(traffic, transfers.tail, sizeof(float));
  for (const auto& exchange : transfers.exchanges) add(traffic, exchange, sizeof(float));
  const std::size_t each = execution.handed.wire == comm::Wire::kF32 ? sizeof(float) : 2;
  traffic.received += execution.hand_overs.receives.size() * execution.handed.in * each;
  traffic.sent += execution.hand_overs.sends.size() * execution.handed.out * each;
  return traffic;
}

}  // namespace winnow::train
