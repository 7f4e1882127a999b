#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Local updates (Laskin et al. 2020): a net is cut into stages, each with its own head and loss.
// Gradients do not flow back beyond these limits:
//
// greedy       a loss updates its own stage and head
// overlapping  a loss also updates the stage before its own

inline constexpr std::string_view kUsualLocalHead = "mlp-sr";  // the default

// The options as given by the user. Without `updates`, the net is trained as a whole.
struct LocalOptions {
  std::string updates{};  // "greedy" or "overlapping"
  std::string stages{};   // their number ("4"), or the values they end with ("layer1,layer3")
  // quantity that a number of stages balances: "time" (the default) or "memory"
  std::string balance{};
  std::string head{};         // a row of local_heads(); empty: kUsualLocalHead
  bool pipeline = false;      // each stage has ranks of its own
  std::string stage_ranks{};  // number of ranks of each ("3,1"); empty: by multiply-adds
};

// The stages chosen for a net, as config.json stores them.
struct LocalSetup {
  std::string updates{};            // empty: the net is trained as a whole
  std::vector<std::string> ends{};  // end of each stage but the last: values of the forward graph
  std::string head{};

  // Number of stages before its own that a loss updates.
  int neighbours() const { return updates == "overlapping" ? 1 : 0; }
  std::size_t stages() const { return ends.size() + 1; }
};

// Throws UsageError for options that contradict each other, before a net is known. Pure.
void check_local(const LocalOptions& options, const LossOptions& loss);

// Chooses the ends of the stages of `forward`. Pure.
// Balance  The costliest stage becomes as cheap as possible, including its head. Cost:
//          multiply-adds, or bytes of values. For bytes with "overlapping": the costliest two
//          neighbouring stages, because two are held at a time.
// Errors   UsageError: the net has no such borders, or too few; the message says how many and
//          where.
LocalSetup choose_stages(const LocalOptions& options, const Graph& forward, const NetOptions& net);

// `forward` with the heads of its stages; unchanged without local updates. Pure.
// Throws UsageError if a name is not that of a border's value, or if the names are not in the net's
// order.
Graph with_heads(const LocalSetup& local, const Graph& forward, const NetOptions& net);

// Describes the size of a graph's heads: "heads mlp-sr of 2 stages ...". Pure.
std::string heads_in_words(const LocalSetup& local, const Graph& with_heads);

// The borders of a net as a table, one line each: its name, and what comes before it.
std::string borders_in_words(const Graph& forward);

}  // namespace winnow::train
