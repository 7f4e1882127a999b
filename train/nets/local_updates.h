#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/graph/graph.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Local updates (Laskin et al. 2020): a net is cut into stages, each with a head and a loss of its
// own, and no gradient goes further than it says here.
//
// greedy       a loss moves its stage and its head
// overlapping  a loss moves the stage before its own as well

inline constexpr std::string_view kUsualLocalHead = "mlp-sr";  // where none is chosen

// The options as given. Without `updates` the net learns as a whole.
struct LocalOptions {
  std::string updates{};  // "greedy", "overlapping"
  std::string stages{};   // how many, "4", or what they end with, "layer1,layer3"
  std::string balance{};  // what cuts so many stages: "time", as where empty, or "memory"
  std::string head{};     // a row of local_heads(); empty: kUsualLocalHead
};

// The stages of a net that follow from them, as config.json keeps them.
struct LocalSetup {
  std::string updates{};            // empty: the net learns as a whole
  std::vector<std::string> ends{};  // values of the forward graph; of all stages but the last
  std::string head{};

  // Stages before its own that a loss moves.
  int neighbours() const { return updates == "overlapping" ? 1 : 0; }
  std::size_t stages() const { return ends.size() + 1; }
};

// Throws UsageError for options that do not go together, before a net is known. Pure.
void check_local(const LocalOptions& options, const LossOptions& loss);

// Chooses where the stages of `forward` end: by multiply-adds, or bytes of the values of a stage,
// those of its head among them. The most of a stage is smallest; of bytes with "overlapping" the
// most of two neighbouring stages, which are held at a time.
// Throws UsageError: the net has no such borders, or fewer; it says how many and where. Pure.
LocalSetup choose_stages(const LocalOptions& options, const Graph& forward, const NetOptions& net);

// `forward` with the heads of its stages; without local updates as it is. Throws UsageError where
// it has no border whose value has one of these names, and where they are not in its order. Pure.
Graph with_heads(const LocalSetup& local, const Graph& forward, const NetOptions& net);

// The size of a graph's heads, in words: "heads mlp-sr of 2 stages ...". Pure.
std::string heads_in_words(const LocalSetup& local, const Graph& with_heads);

// The borders of a net as a table: a line for each, what it is called, and what is before it.
std::string borders_in_words(const Graph& forward);

}  // namespace winnow::train
