#include "train/graph/arena_layout.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "train/graph/edit.h"

namespace winnow::train {
namespace {

// A value in the arena: its size rounded up to the alignment, and the nodes first ... last that use
// it.
struct Tenant {
  std::size_t value = 0;
  std::size_t bytes = 0;
  std::size_t first = 0;
  std::size_t last = 0;

  bool meets(const Tenant& other) const { return first <= other.last && other.first <= last; }
  double area() const { return static_cast<double>(bytes) * static_cast<double>(last - first + 1); }
};

std::size_t stored_bytes(const Value& value, DType compute) {
  const auto elements = static_cast<std::size_t>(element_count(value.shape));
  switch (value.storage) {
    case Storage::kU8:
      return elements;
    case Storage::kF32:
      return elements * 4;
    case Storage::kCompute:
      return elements * bytes_of(compute);
  }
  return 0;
}

std::vector<Tenant> find_tenants(const Graph& graph, DType compute) {
  const std::vector<bool> outside = is_output(graph);
  std::vector<Tenant> tenants;
  std::vector<std::size_t> place(graph.values.size(), ArenaLayout::kOutside);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].outputs) {
      const auto value = static_cast<std::size_t>(id);
      if (outside[value]) continue;
      const std::size_t bytes = stored_bytes(graph.values[value], compute);
      const std::size_t lines = (bytes + ArenaLayout::kAlignment - 1) / ArenaLayout::kAlignment;
      place[value] = tenants.size();
      tenants.push_back({value, lines * ArenaLayout::kAlignment, i, i});
    }
    for (const ValueId id : graph.nodes[i].inputs) {
      const std::size_t tenant = place[static_cast<std::size_t>(id)];
      if (tenant != ArenaLayout::kOutside) tenants[tenant].last = i;
    }
  }
  return tenants;
}

std::size_t lower_bound_of(const std::vector<Tenant>& tenants, std::size_t nodes) {
  std::vector<std::size_t> live(nodes + 1, 0);
  for (const Tenant& tenant : tenants) {
    for (std::size_t i = tenant.first; i <= tenant.last; ++i) live[i] += tenant.bytes;
  }
  return *std::max_element(live.begin(), live.end());
}

// Places the tenants in the given order: each into the smallest gap that fits between those with
// overlapping lifetimes, else after them. Returns the offset of each tenant, and the size of the
// arena.
std::pair<std::vector<std::size_t>, std::size_t> place_in_order(
    const std::vector<Tenant>& tenants, const std::vector<std::size_t>& order) {
  std::vector<std::size_t> offsets(tenants.size(), 0);
  std::vector<std::size_t> placed;  // sorted by offset
  std::size_t arena_bytes = 0;
  for (const std::size_t i : order) {
    std::size_t best = ArenaLayout::kOutside;
    std::size_t best_gap = ArenaLayout::kOutside;
    std::size_t end = 0;
    for (const std::size_t other : placed) {
      if (!tenants[i].meets(tenants[other])) continue;
      if (offsets[other] >= end + tenants[i].bytes && offsets[other] - end < best_gap) {
        best = end;
        best_gap = offsets[other] - end;
      }
      end = std::max(end, offsets[other] + tenants[other].bytes);
    }
    offsets[i] = best == ArenaLayout::kOutside ? end : best;
    arena_bytes = std::max(arena_bytes, offsets[i] + tenants[i].bytes);
    const auto behind =
        std::upper_bound(placed.begin(), placed.end(), i,
                         [&](std::size_t a, std::size_t b) { return offsets[a] < offsets[b]; });
    placed.insert(behind, i);
  }
  return {offsets, arena_bytes};
}

}  // namespace

// Dynamic storage allocation is NP-hard. Greedy placement by size (Pisarchyk and Lee, "Efficient
// memory management for deep neural net inference", 2020) and by size times lifetime come close to
// the lower bound for nets. The better of both is used.
ArenaLayout lay_out_arena(const Graph& graph, DType compute) {
  const std::vector<Tenant> tenants = find_tenants(graph, compute);
  std::vector<std::size_t> order(tenants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto placed_by = [&](auto key) {
    std::vector<std::size_t> sorted = order;
    std::ranges::stable_sort(
        sorted, [&](std::size_t a, std::size_t b) { return key(tenants[a]) > key(tenants[b]); });
    return place_in_order(tenants, sorted);
  };
  auto best = placed_by([](const Tenant& tenant) { return static_cast<double>(tenant.bytes); });
  auto by_area = placed_by([](const Tenant& tenant) { return tenant.area(); });
  if (by_area.second < best.second) best = std::move(by_area);

  ArenaLayout layout;
  layout.offsets.assign(graph.values.size(), ArenaLayout::kOutside);
  for (std::size_t i = 0; i < tenants.size(); ++i) layout.offsets[tenants[i].value] = best.first[i];
  layout.arena_bytes = best.second;
  layout.lower_bound_bytes = lower_bound_of(tenants, graph.nodes.size());
  return layout;
}

}  // namespace winnow::train
