#include "app/experiment/sweep_cost.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "app/words.h"
#include "common/error.h"
#include "common/memory_left.h"

namespace winnow::app {

double work_of(const SweepArm& arm, std::uint64_t held_out) {
  return arm.epochs * (static_cast<double>(arm.epoch_images) + static_cast<double>(held_out) / 3);
}

void SpeedMeter::add(const RunCost& cost, double work) {
  if (!(cost.seconds > 0)) return;
  seconds_ += cost.seconds;
  work_ += work;
  most_.peak_bytes = std::max(most_.peak_bytes, cost.peak_bytes);
  most_.disk_bytes = std::max(most_.disk_bytes, cost.disk_bytes);
}

std::optional<RunSpeed> SpeedMeter::speed() const {
  if (!(work_ > 0)) return std::nullopt;
  RunSpeed speed = most_;
  speed.seconds_per_image = seconds_ / work_;
  return speed;
}

std::optional<RunSpeed> speed_of(
    const std::vector<SweepArm>& arms, std::uint64_t held_out,
    const std::function<std::optional<RunCost>(const std::string& job)>& cost_of) {
  SpeedMeter meter;
  for (const SweepArm& arm : arms) {
    for (const std::string& job : arm.jobs) {
      if (const std::optional<RunCost> cost = cost_of(job)) {
        meter.add(*cost, work_of(arm, held_out));
      }
    }
  }
  return meter.speed();
}

CostEstimate estimate_cost(const std::vector<SweepArm>& arms, std::uint64_t held_out, int lanes,
                           const RunSpeed& speed,
                           const std::function<bool(const std::string& job)>& is_done) {
  CostEstimate cost{.lane_bytes = speed.peak_bytes};
  std::set<std::string> seen;
  double work = 0;
  for (const SweepArm& arm : arms) {
    for (const std::string& job : arm.jobs) {
      if (!seen.insert(job).second) {
        ++cost.shared;
      } else if (is_done(job)) {
        ++cost.done;
      } else {
        cost.images += arm.epochs * static_cast<double>(arm.epoch_images);
        work += work_of(arm, held_out);
      }
    }
  }
  cost.runs = seen.size();
  cost.disk_bytes = (cost.runs - cost.done) * speed.disk_bytes;
  const std::size_t left = cost.runs - cost.done;
  if (left == 0) return cost;
  const auto at_once = static_cast<std::size_t>(lanes);
  const auto rounds = static_cast<double>((left + at_once - 1) / at_once);  // the last has fewer
  cost.seconds = rounds * work / static_cast<double>(left) * speed.seconds_per_image;
  return cost;
}

std::vector<std::string> in_words(const CostEstimate& cost, int lanes, std::uint64_t memory_left) {
  const std::size_t left = cost.runs - cost.done;
  std::string runs = count_of(cost.runs, "run");
  if (cost.shared > 0) {
    runs += fmt::format(" ({} one of them, not done again)",
                        count_of(cost.shared, "more equals", "more equal"));
  }
  if (left == 0) return {runs + ", all of them done"};
  if (cost.done > 0) runs += fmt::format(", {} of them done", grouped(cost.done));
  const std::string time =
      fmt::format("{} to train on, about {} on {}",
                  count_of(static_cast<std::uint64_t>(cost.images + 0.5), "image"),
                  in_seconds(cost.seconds), count_of(static_cast<std::uint64_t>(lanes), "lane"));
  std::string memory = fmt::format("memory: about {} a lane", in_bytes(cost.lane_bytes));
  if (lanes > 1) {
    memory +=
        fmt::format(", {} in all", in_bytes(cost.lane_bytes * static_cast<std::uint64_t>(lanes)));
  }
  if (memory_left != kNoMemoryLimit) memory += fmt::format(", of {}", in_bytes(memory_left));
  return {runs, time, memory};
}

std::string disk_in_words(const CostEstimate& cost, std::uint64_t disk_left) {
  return fmt::format("disk: about {}, of {}", in_bytes(cost.disk_bytes), in_bytes(disk_left));
}

void check_memory(const CostEstimate& cost, int lanes, std::uint64_t memory_left) {
  if (memory_left == kNoMemoryLimit || cost.done == cost.runs) return;
  if (cost.lane_bytes * static_cast<std::uint64_t>(lanes) <= memory_left) return;
  const std::uint64_t fit = memory_left / cost.lane_bytes;
  const std::string needed = fmt::format("{} of about {} each do not fit into {} of memory",
                                         count_of(static_cast<std::uint64_t>(lanes), "lane"),
                                         in_bytes(cost.lane_bytes), in_bytes(memory_left));
  throw UsageError(fit == 0 ? needed + "; take a smaller --micro-batch, after --"
                            : fmt::format("{}; take --lanes {}", needed, fit));
}

void check_disk(const CostEstimate& cost, std::uint64_t disk_left) {
  if (cost.done == cost.runs || cost.disk_bytes <= disk_left) return;
  const std::size_t runs = cost.runs - cost.done;
  throw UsageError(fmt::format(
      "{} of about {} each do not fit into {} of disk; free some, or choose another --out",
      count_of(runs, "run"), in_bytes(cost.disk_bytes / runs), in_bytes(disk_left)));
}

}  // namespace winnow::app
