#include "train/plan/fastest_schedules.h"

#include <bit>
#include <cstdint>

namespace winnow::train {

std::size_t message_bytes(Sums sums) noexcept {
  if (sums == Sums::kWholeNumbers) return sizeof(std::int64_t);
  return sends_bf16(sums) ? sizeof(std::uint16_t) : sizeof(float);
}

FastestSchedules::FastestSchedules(const comm::NetworkModel& network, std::span<const int> node_of,
                                   std::size_t element_bytes, std::string_view without)
    : network_(network),
      node_of_(node_of.begin(), node_of.end()),
      element_bytes_(element_bytes),
      without_(without) {}

const comm::ScheduleChoice& FastestSchedules::of(std::size_t count) {
  const std::size_t most = std::bit_ceil(count);
  const auto known = choices_.find(most);
  if (known != choices_.end()) return known->second;
  return choices_.emplace(most, comm::choose_schedule(shape(most), network_, without_))
      .first->second;
}

double FastestSchedules::seconds(std::size_t count) {
  const auto known = seconds_.find(count);
  if (known != seconds_.end()) return known->second;
  const comm::ScheduleChoice& choice = of(count);
  const double seconds =
      comm::predicted_seconds(*choice.schedule, choice.options, shape(count), network_);
  return seconds_.emplace(count, seconds).first->second;
}

}  // namespace winnow::train
