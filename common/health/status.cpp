#include "common/health/status.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace winnow::health {
namespace {

// Cores used by a process that does more than poll for messages.
constexpr float kBusyCores = 0.3F;
// Data read and written by a process that does more than check its state.
constexpr std::uint64_t kTrafficKib = 64;

}  // namespace

std::string_view in_words(Stage stage) noexcept {
  constexpr std::array<std::string_view, kStages> kNames{"starting",
                                                         "waiting for its batch",
                                                         "waiting for a micro-batch",
                                                         "forward",
                                                         "backward",
                                                         "summing gradients",
                                                         "updating weights",
                                                         "evaluating",
                                                         "saving a checkpoint",
                                                         "ending",
                                                         "leaving"};
  return kNames.at(static_cast<std::size_t>(stage));
}

bool progressed(const Status& before, const Status& now) noexcept {
  const auto position = [](const Status& s) {
    return std::tuple(s.marks, s.step, s.stage, s.bucket, s.collectives, s.exchanges, s.wait,
                      s.added_ms);
  };
  if (position(before) != position(now)) return true;
  const bool has_traffic = now.io_kib >= before.io_kib + kTrafficKib;
  if (is_blocked(now)) return has_traffic;
  if (is_in_step(now.stage) && !now.is_first_step) return false;
  return has_traffic || now.cpu > kBusyCores;
}

std::string in_words(const Status& status) {
  std::string words = status.step > 0 ? "step " + std::to_string(status.step) + ", " : "";
  words += in_words(status.stage);
  if (status.stage == Stage::kReceiving) words += " (" + std::to_string(status.bucket) + ")";
  if (status.stage == Stage::kBackward) words += ", bucket " + std::to_string(status.bucket);
  return words;
}

std::string names_of(const std::vector<int>& ranks, const std::vector<Member>& members) {
  constexpr std::size_t kNamed = 8;
  std::string numbers;
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < std::min(ranks.size(), kNamed); ++i) {
    const bool last = i + 1 == ranks.size();
    numbers += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(ranks[i]);
    const std::string& host = members[static_cast<std::size_t>(ranks[i])].host;
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  if (ranks.size() > kNamed) numbers += " and " + std::to_string(ranks.size() - kNamed) + " more";
  std::string machines;
  for (const std::string& host : hosts) machines += (machines.empty() ? "" : ", ") + host;
  return (ranks.size() == 1 ? "rank " : "ranks ") + numbers + " (" + machines + ")";
}

}  // namespace winnow::health
