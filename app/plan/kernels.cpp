#include "app/plan/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "common/comm/agreement.h"
#include "common/error.h"
#include "common/statistics.h"
#include "train/run/start/kernel_times.h"

namespace winnow::app {
namespace {

PlanKernel kernel_of(const train::LayerTimes& layer, const train::KernelTimes& kernel) {
  return {kernel.name, layer.nodes * median(kernel.seconds), kernel.scratch_bytes};
}

bool are_for(const std::vector<train::LayerTimes>& layers,
             const train::KernelCandidates& candidates) {
  return std::ranges::equal(layers, candidates, [](const train::LayerTimes& a, const auto& b) {
    return a.layer == b.first &&
           std::ranges::equal(a.kernels, b.second, {}, &train::KernelTimes::name);
  });
}

std::vector<train::LayerTimes> measured(const KernelMeasuring& measuring,
                                        const MeasureKernels& measure, const Session& session) {
  say(session, fmt::format("measuring kernels takes about {:.0f} s", measuring.seconds()));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<train::LayerTimes> layers = measure([&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    return spent.count() < measuring.limit_seconds && !is_asked_to_stop(session);
  });
  if (is_asked_to_stop(session)) throw StoppedError("stopped; nothing was written");
  return layers;
}

}  // namespace

double PlanKernels::seconds(PlanKernel PlanLayer::*which) const {
  double sum = 0;
  for (const PlanLayer& row : layers) sum += (row.*which).seconds;
  return sum;
}

std::size_t PlanKernels::scratch_bytes(PlanKernel PlanLayer::*which) const {
  std::size_t most = 0;
  for (const PlanLayer& row : layers) most = std::max(most, (row.*which).scratch_bytes);
  return most;
}

PlanKernels chosen_kernels(std::span<const train::LayerTimes> layers, std::size_t bytes) {
  PlanKernels out{.room_bytes = bytes};
  const std::optional<train::KernelPlan> plan = train::choose_kernels(layers, bytes);
  for (const train::LayerTimes& layer : layers) {
    PlanLayer& row = out.layers.emplace_back(PlanLayer{.layer = layer.layer, .nodes = layer.nodes});
    row.chosen = row.own = kernel_of(layer, layer.kernels.front());
    if (!plan || !plan->kernels.contains(layer.layer)) continue;
    const std::string& other = plan->kernels.at(layer.layer);
    row.chosen =
        kernel_of(layer, *std::ranges::find(layer.kernels, other, &train::KernelTimes::name));
  }
  return out;
}

std::size_t scratch_room(std::size_t available, const train::MemoryFit& memory, std::size_t own) {
  constexpr std::size_t kPage = std::size_t{2} << 20;  // a lane's memory consists of whole ones
  if (available <= memory.peak) return own;
  const std::size_t more = (available - memory.peak) / static_cast<std::size_t>(memory.lanes);
  return own + (more > kPage ? more - kPage : 0);
}

std::size_t own_scratch(std::span<const train::LayerTimes> layers) {
  std::size_t most = 0;
  for (const train::LayerTimes& layer : layers) {
    most = std::max(most, layer.kernels.front().scratch_bytes);
  }
  return most;
}

void keep_own_kernels(PlanKernels& kernels) {
  for (PlanLayer& row : kernels.layers) row.chosen = row.own;
}

train::KernelChoices kernel_choices(const PlanKernels& kernels) {
  train::KernelChoices choices;
  for (const PlanLayer& row : kernels.layers) {
    if (row.chosen.name != row.own.name) choices[row.layer] = row.chosen.name;
  }
  return choices;
}

double KernelMeasuring::seconds() const {
  const double round = static_cast<double>(turns) * turn_seconds;
  return round + std::clamp(limit_seconds - round, 0.0, (rounds - 1) * round);
}

KernelTimesFound find_kernel_times(const train::KernelCandidates& candidates, const Rates& rates,
                                   const std::string& key, const KernelMeasuring& measuring,
                                   const MeasureKernels& measure, const Session& session) {
  std::vector<train::LayerTimes> kept;
  if (!measuring.again) kept = rates.find_kernels(key);
  if (!kept.empty() && are_for(kept, candidates)) return {std::move(kept), true};
  KernelTimesFound found{measured(measuring, measure, session)};
  rates.keep_kernels(key, found.layers);
  return found;
}

KernelTimesFound kernel_times(const KernelsOfLane& lane, const Rates& rates, const std::string& key,
                              KernelMeasuring measuring, Session& session) {
  KernelTimesFound found;
  comm::on_root(session.comm, [&] {
    const train::KernelCandidates candidates = lane.backend.candidates_of(lane.graph, lane.options);
    if (candidates.empty()) return;
    for (const auto& [layer, kernels] : candidates) {
      measuring.turns = std::max(measuring.turns, kernels.size());
    }
    const auto measure = [&](const std::function<bool()>& goes_on) {
      return train::measure_kernels(lane.backend, lane.graph, lane.options, measuring.rounds,
                                    goes_on);
    };
    found = find_kernel_times(candidates, rates, key, measuring, measure, session);
  });
  found.layers = parse_layers(comm::broadcast_text(session.comm, to_text(found.layers)));
  found.kept = comm::broadcast(session.comm, std::uint8_t{found.kept}, 0) != 0;
  return found;
}

}  // namespace winnow::app
