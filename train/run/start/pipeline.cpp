#include "train/run/start/pipeline.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "common/error.h"
#include "train/graph/borders.h"
#include "train/graph/stages.h"
#include "train/rewrites/rewrites.h"

namespace winnow::train {
namespace {

void check_options(const LocalOptions& options, bool sync_bn) {
  if (!options.pipeline) {
    if (options.stage_ranks.empty()) return;
    throw UsageError("--stage-ranks needs --pipeline; add --pipeline, or leave out --stage-ranks");
  }
  if (options.updates != "greedy") {
    throw UsageError(
        "--pipeline needs stages that are each trained by their own loss only; add --local greedy "
        "and --stages");
  }
  if (sync_bn) {
    throw UsageError("--sync-bn does not work with --pipeline; leave out one of the two flags");
  }
}

// Multiply-adds of each stage, its head among them.
std::vector<double> costs_of_stages(const Graph& forward) {
  const Graph ordered = order_by_stage(forward);
  const std::vector<int> stage = find_stages(ordered).of_node;
  std::vector<double> costs;
  std::size_t first = 0;
  for (std::size_t n = 1; n <= stage.size(); ++n) {
    if (n < stage.size() && stage[n] == stage[first]) continue;
    costs.push_back(load_of(ordered, first, n).multiply_adds);
    first = n;
  }
  return costs;
}

RankStages parse_stage_ranks(const std::string& text, std::size_t stages, int ranks) {
  RankStages chosen{{}};
  std::string_view left = text;
  while (!left.empty()) {
    int count = 0;
    const auto [rest, error] = std::from_chars(left.data(), left.data() + left.size(), count);
    left.remove_prefix(static_cast<std::size_t>(rest - left.data()));
    const bool ends = left.empty() || (left.front() == ',' && left.size() > 1);
    if (error != std::errc() || count < 1 || !ends) {
      throw UsageError("--stage-ranks " + text +
                       " is not a list of the number of ranks of each stage, such as 3,1");
    }
    left.remove_prefix(left.empty() ? 0 : 1);
    chosen.ranks.push_back(count);
  }
  if (chosen.ranks.size() != stages) {
    throw UsageError("--stage-ranks " + text + " has numbers for " +
                     std::to_string(chosen.ranks.size()) + " stages, but there are " +
                     std::to_string(stages));
  }
  if (chosen.total() != ranks) {
    throw UsageError("--stage-ranks " + text + " gives " + std::to_string(chosen.total()) +
                     " ranks, but the job has " + std::to_string(ranks));
  }
  return chosen;
}

}  // namespace

RankStages choose_rank_stages(const LocalOptions& options, bool sync_bn, const Graph& forward,
                              int ranks) {
  check_options(options, sync_bn);
  if (!options.pipeline) return {{ranks}};
  const std::vector<double> costs = costs_of_stages(forward);
  const RankStages spread = spread_ranks(costs, ranks);
  if (options.stage_ranks.empty()) return spread;
  return parse_stage_ranks(options.stage_ranks, costs.size(), ranks);
}

std::string in_words(const RankStages& stages) {
  std::string text;
  for (int stage = 0; stage < stages.count(); ++stage) {
    const std::vector<int> ranks = stages.members(stage);
    text += (stage == 0 ? "stage " : ", stage ") + std::to_string(stage + 1);
    if (stage == 0) text += " of " + std::to_string(stages.count());
    text += ranks.size() == 1 ? " on rank " + std::to_string(ranks.front())
                              : " on ranks " + std::to_string(ranks.front()) + " to " +
                                    std::to_string(ranks.back());
  }
  return text;
}

}  // namespace winnow::train
