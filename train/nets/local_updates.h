#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Local updates (Laskin et al. 2020): a net is cut into stages, each with a head (auxiliary
// classifier) and a loss of its own. Gradients do not flow further back than this:
//
// greedy       a loss updates its own stage and head
// overlapping  a loss also updates the stage before its own

// Name of the default kind of local head (auxiliary classifier).
inline constexpr std::string_view kUsualLocalHead = "mlp-sr";

// Options of local updates (stages of a net with losses of their own), as the user gave them. With
// `updates` empty, the net is trained as a whole.
struct LocalOptions {
  std::string updates{};  // "greedy" or "overlapping"
  std::string stages{};   // number of stages ("4"), or the values they end with ("layer1,layer3")
  // Quantity that is balanced between stages, if their number was given: "time" (the default) or
  // "memory".
  std::string balance{};
  std::string head{};     // name of a row of local_heads(); empty: kUsualLocalHead
  bool pipeline = false;  // pipeline parallelism: each stage has ranks of its own
  // Number of ranks of each stage ("3,1"); empty: in proportion to multiply-adds.
  std::string stage_ranks{};
};

// The stages chosen for a net, as config.json stores them.
struct LocalSetup {
  std::string updates{};  // "greedy" or "overlapping"; empty: the net is trained as a whole
  std::vector<std::string> ends{};  // last value of each stage except the final one, by name
  std::string head{};

  // Number of preceding stages that a stage's loss also updates.
  int neighbours() const { return updates == "overlapping" ? 1 : 0; }
  std::size_t stages() const { return ends.size() + 1; }
};

// Checks options of local updates (stages with losses of their own) before a net is known. Throws
// UsageError if they contradict each other. Pure.
void check_local(const LocalOptions& options, const LossOptions& loss);

// Chooses where the stages of `forward` end. Pure.
// Balance  Makes the costliest stage as cheap as possible, including its local head (auxiliary
//          classifier). Cost: multiply-adds, or bytes of values. For bytes with "overlapping": the
//          costliest two neighbouring stages, because two are in memory at a time.
// Errors   UsageError: the net cannot be cut at the given values, or into so many stages; the
//          message says how many and where.
LocalSetup choose_stages(const LocalOptions& options, const Graph& forward, const NetOptions& net);

// Returns `forward` with the local heads (auxiliary classifiers) of its stages; unchanged if the
// net is trained as a whole. Pure.
// Throws  UsageError if the net cannot be cut at one of the names, or if they are not in the net's
//         order.
Graph with_heads(const LocalSetup& local, const Graph& forward, const NetOptions& net);

// Describes the size of a graph's local heads (auxiliary classifiers) for the user: "heads mlp-sr
// of 2 stages ...". Pure.
std::string heads_in_words(const LocalSetup& local, const Graph& with_heads);

// Returns a user-facing table of a net's borders (values at which it can be cut), one a line: the
// border's name, and what comes before it.
std::string borders_in_words(const Graph& forward);

}  // namespace winnow::train
