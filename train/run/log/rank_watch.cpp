#include "train/run/log/rank_watch.h"

#include <algorithm>
#include <array>
#include <span>

#include "common/host_name.h"
#include "common/memory_left.h"

namespace winnow::train {
namespace {

// The host name up to the first dot, the usual short name of a machine.
std::string short_host() {
  const std::string host = host_name();
  return host.empty() ? "?" : host.substr(0, host.find('.'));
}

// Peak memory of this process, in bytes.
double peak_memory() {
  return static_cast<double>(read_memory_field("/proc/self/status", "VmHWM:", 1024).value_or(0));
}

}  // namespace

void RankWatch::begin(const Traffic& of_step, std::optional<int> card) {
  of_step_ = of_step;
  if (card) thermometer_ = open_thermometer(*card);
  hosts_ = comm::all_gather(comm_, short_host());
  before_ = {.reduction = comm_.adding_seconds()};
}

void RankWatch::count(const StepResult& step, double seconds) {
  const double exposed = step.exposed.total();
  compute_s_ += std::max(0.0, seconds - exposed - step.exchange_wait);
  exposed_s_ += exposed + step.exchange_wait;
  computed_ += 1 + step.repeats;
}

RankWatch::Totals RankWatch::totals(const pipeline::Loader& loader) const {
  const auto times = static_cast<std::uint64_t>(computed_);
  return {.compute = compute_s_,
          .data_wait = loader.waited_seconds(),
          .exposed = exposed_s_,
          .reduction = comm_.adding_seconds(),
          .received = static_cast<double>(times * of_step_.received + loader.received_bytes()),
          .sent = static_cast<double>(times * of_step_.sent + loader.sent_bytes())};
}

RankTable RankWatch::gather(const pipeline::Loader& loader) {
  const Totals now = totals(loader);
  const RankFigures mine{.compute = now.compute - before_.compute,
                         .data_wait = now.data_wait - before_.data_wait,
                         .exposed = now.exposed - before_.exposed,
                         .reduction = now.reduction - before_.reduction,
                         .received = now.received - before_.received,
                         .sent = now.sent - before_.sent,
                         .memory = peak_memory(),
                         .temperature = thermometer_ ? thermometer_() : std::nullopt};
  before_ = now;
  const std::vector<std::uint64_t> words = comm::all_gather(comm_, to_words(mine));
  RankTable table{.hosts = hosts_, .figures = {}};
  for (std::size_t at = 0; at < words.size(); at += kRankWords) {
    table.figures.push_back(
        figures_of_words(std::span<const std::uint64_t, kRankWords>(&words[at], kRankWords)));
  }
  return table;
}

}  // namespace winnow::train
