#include "train/plan/algorithms.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "common/statistics.h"

namespace winnow::train {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The candidates of a layer that no other one dominates, from the smallest to the fastest.
std::vector<std::size_t> undominated(const Candidates& layer) {
  std::vector<std::size_t> order(layer.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(layer[i].scratch_bytes, layer[i].seconds);
  });
  std::vector<std::size_t> kept;
  double fastest = kNever;
  for (const std::size_t i : order) {
    if (layer[i].seconds < fastest) kept.push_back(i);
    fastest = std::min(fastest, layer[i].seconds);
  }
  return kept;
}

// One step along the lower convex hull of a layer: how many more bytes save how many seconds.
struct Saving {
  double bytes = 0;
  double seconds = 0;
  double rate() const { return seconds / bytes; }
};

std::vector<Saving> savings_of(const Candidates& layer, const std::vector<std::size_t>& kept) {
  std::vector<std::size_t> hull;
  const auto between = [&](std::size_t a, std::size_t b) {
    return Saving{static_cast<double>(layer[b].scratch_bytes - layer[a].scratch_bytes),
                  layer[a].seconds - layer[b].seconds};
  };
  for (const std::size_t i : kept) {
    while (hull.size() >= 2 &&
           between(hull[hull.size() - 2], hull.back()).rate() <= between(hull.back(), i).rate()) {
      hull.pop_back();
    }
    hull.push_back(i);
  }
  std::vector<Saving> savings;
  for (std::size_t k = 1; k < hull.size(); ++k) savings.push_back(between(hull[k - 1], hull[k]));
  return savings;
}

// A lower bound for the layers from one of them to the last: the linear relaxation.
struct Rest {
  std::size_t least_bytes = 0;  // with the smallest candidate of each layer
  double most_seconds = 0;      // with these candidates
  // Cumulative sums of the savings by descending rate, starting with 0.
  std::vector<double> bytes{0}, saved{0};

  struct Bound {
    double seconds = kNever;   // lower bound for every choice
    double feasible = kNever;  // time of a choice that is possible
  };
  Bound bound(std::size_t room) const {
    if (room < least_bytes) return {};
    const auto left = static_cast<double>(room - least_bytes);
    const auto past = std::upper_bound(bytes.begin(), bytes.end(), left);
    const auto whole = static_cast<std::size_t>(past - bytes.begin()) - 1;
    Bound found{most_seconds - saved[whole], most_seconds - saved[whole]};
    if (past != bytes.end()) {
      found.seconds -= (left - bytes[whole]) * (saved[whole + 1] - saved[whole]) /
                       (bytes[whole + 1] - bytes[whole]);
    }
    return found;
  }
};

struct Prepared {
  std::vector<std::vector<std::size_t>> kept;  // for each layer
  std::vector<Rest> rest;  // for the layers from each one on; the last entry is for none
};

Prepared prepare(std::span<const Candidates> layers) {
  Prepared out;
  for (const Candidates& layer : layers) out.kept.push_back(undominated(layer));
  out.rest.resize(layers.size() + 1);
  std::vector<Saving> all;  // by descending rate
  for (std::size_t i = layers.size(); i-- > 0;) {
    const Candidate& smallest = layers[i][out.kept[i].front()];
    Rest& rest = out.rest[i];
    rest.least_bytes = out.rest[i + 1].least_bytes + smallest.scratch_bytes;
    rest.most_seconds = out.rest[i + 1].most_seconds + smallest.seconds;
    for (const Saving& saving : savings_of(layers[i], out.kept[i])) {
      const auto at = std::ranges::upper_bound(all, saving.rate(), std::ranges::greater{},
                                               [](const Saving& s) { return s.rate(); });
      all.insert(at, saving);
    }
    for (const Saving& saving : all) {
      rest.bytes.push_back(rest.bytes.back() + saving.bytes);
      rest.saved.push_back(rest.saved.back() + saving.seconds);
    }
  }
  return out;
}

// A choice for the first layers.
struct Branch {
  std::size_t bytes = 0;
  double seconds = 0;
  std::size_t from = 0;       // index of the branch of the previous layer
  std::size_t candidate = 0;  // for this layer
};

bool is_smaller(const Branch& a, const Branch& b) {
  return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
}

// Merges `more` into `branches`, and removes dominated ones. All are sorted by bytes.
void merge_undominated(std::vector<Branch>& branches, const std::vector<Branch>& more) {
  std::vector<Branch> merged(branches.size() + more.size());
  std::ranges::merge(branches, more, merged.begin(), is_smaller);
  double fastest = kNever;
  std::erase_if(merged, [&](const Branch& b) {
    const bool beaten = b.seconds >= fastest;
    fastest = std::min(fastest, b.seconds);
    return beaten;
  });
  branches = std::move(merged);
}

// Extends the branches by one layer. `best`: seconds of a known complete choice.
std::vector<Branch> branch(const std::vector<Branch>& before, const Candidates& layer,
                           const std::vector<std::size_t>& kept, const Rest& rest,
                           std::size_t bytes, double& best) {
  constexpr double kRounding = 1e-12;
  std::vector<Branch> after;
  for (const std::size_t i : kept) {
    std::vector<Branch> with;
    for (std::size_t from = 0; from < before.size(); ++from) {
      const std::size_t used = before[from].bytes + layer[i].scratch_bytes;
      if (used > bytes) break;
      const double seconds = before[from].seconds + layer[i].seconds;
      const Rest::Bound bound = rest.bound(bytes - used);
      if (seconds + bound.seconds > best * (1 + kRounding)) continue;
      best = std::min(best, seconds + bound.feasible);
      with.push_back({used, seconds, from, i});
    }
    merge_undominated(after, with);
  }
  return after;
}

// Another kernel has to be faster by so much.
constexpr double kLeastGain = 0.05;

bool is_surely_faster(const KernelTimes& kernel, double own_seconds) {
  return median(kernel.seconds) < (1 - kLeastGain) * own_seconds &&
         std::ranges::max(kernel.seconds) < own_seconds;
}

// The kernels that may be chosen; empty: none fits.
Candidates eligible_of(const LayerTimes& layer, std::size_t bytes) {
  const KernelTimes& own = layer.kernels.front();
  const bool own_fits = own.scratch_bytes <= bytes;
  const double own_seconds = median(own.seconds);
  Candidates found;
  for (const KernelTimes& kernel : layer.kernels) {
    if (kernel.scratch_bytes > bytes) continue;
    if (&kernel != &own && own_fits && !is_surely_faster(kernel, own_seconds)) continue;
    found.push_back({kernel.name, layer.nodes * median(kernel.seconds), kernel.scratch_bytes});
  }
  return found;
}

}  // namespace

std::optional<Algorithms> choose_with_shared_scratch(std::span<const Candidates> layers,
                                                     std::size_t bytes) {
  Algorithms out;
  for (const Candidates& layer : layers) {
    std::optional<std::size_t> best;
    for (const std::size_t i : undominated(layer)) {  // each faster than the one before
      if (layer[i].scratch_bytes <= bytes) best = i;
    }
    if (!best) return std::nullopt;
    out.chosen.push_back(*best);
    out.seconds += layer[*best].seconds;
    out.scratch_bytes = std::max(out.scratch_bytes, layer[*best].scratch_bytes);
  }
  return out;
}

std::optional<Algorithms> choose_with_own_scratch(std::span<const Candidates> layers,
                                                  std::size_t bytes) {
  const Prepared prepared = prepare(layers);
  if (prepared.rest.front().least_bytes > bytes) return std::nullopt;
  double best = prepared.rest.front().bound(bytes).feasible;
  std::vector<std::vector<Branch>> branches{{Branch{}}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    branches.push_back(
        branch(branches.back(), layers[i], prepared.kept[i], prepared.rest[i + 1], bytes, best));
  }
  const Branch& whole = branches.back().back();  // the fastest is the largest
  Algorithms out{std::vector<std::size_t>(layers.size()), whole.seconds, whole.bytes};
  for (std::size_t i = layers.size(), at = branches.back().size() - 1; i > 0; --i) {
    out.chosen[i - 1] = branches[i][at].candidate;
    at = branches[i][at].from;
  }
  return out;
}

std::optional<KernelPlan> choose_kernels(std::span<const LayerTimes> layers, std::size_t bytes) {
  std::vector<Candidates> eligible;
  KernelPlan plan;
  for (const LayerTimes& layer : layers) {
    const KernelTimes& own = layer.kernels.front();
    plan.own_seconds += layer.nodes * median(own.seconds);
    plan.own_scratch_bytes = std::max(plan.own_scratch_bytes, own.scratch_bytes);
    eligible.push_back(eligible_of(layer, bytes));
    if (eligible.back().empty()) return std::nullopt;
  }
  const std::optional<Algorithms> chosen = choose_with_shared_scratch(eligible, bytes);
  plan.seconds = chosen->seconds;
  plan.scratch_bytes = chosen->scratch_bytes;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string& kernel = eligible[i][chosen->chosen[i]].name;
    if (kernel != layers[i].kernels.front().name) plan.kernels[layers[i].layer] = kernel;
  }
  return plan;
}

}  // namespace winnow::train
