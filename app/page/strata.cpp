#include "app/page/strata.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>

namespace winnow::app {
namespace {

using Places = std::vector<std::size_t>;

// Strata, in this order.
using Kind = std::int64_t (*)(const GroupFacts&);
constexpr std::array<Kind, 3> kKinds{
    [](const GroupFacts& facts) { return std::int64_t{first_reason(facts)}; },
    [](const GroupFacts& facts) { return std::int64_t{facts.distance}; },
    [](const GroupFacts& facts) { return std::int64_t{facts.label}; },
};

void draw(std::span<const GroupFacts> facts, const Places& from, std::size_t most,
          std::span<const Kind> kinds, Places& out) {
  if (from.size() <= most) {
    out.insert(out.end(), from.begin(), from.end());
    return;
  }
  if (kinds.empty()) {
    for (std::size_t i = 0; i < most; ++i) out.push_back(from[i * from.size() / most]);
    return;
  }
  std::map<std::int64_t, Places> strata;
  for (const std::size_t place : from) strata[kinds.front()(facts[place])].push_back(place);
  std::vector<std::size_t> sizes;
  for (const auto& [kind, places] : strata) sizes.push_back(places.size());
  const std::vector<std::size_t> shares = share_out(most, sizes);
  auto share = shares.begin();
  for (const auto& [kind, places] : strata) draw(facts, places, *share++, kinds.subspan(1), out);
}

}  // namespace

std::vector<std::size_t> share_out(std::size_t most, std::span<const std::size_t> sizes) {
  Places by_size(sizes.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::ranges::stable_sort(by_size, {}, [&](std::size_t kind) { return sizes[kind]; });
  std::vector<std::size_t> shares(sizes.size());
  for (std::size_t done = 0; done < by_size.size(); ++done) {
    const std::size_t kind = by_size[done];
    shares[kind] = std::min(sizes[kind], most / (by_size.size() - done));
    most -= shares[kind];
  }
  return shares;
}

std::vector<std::size_t> draw_groups(std::span<const GroupFacts> facts, std::size_t most) {
  Places all(facts.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Places drawn;
  draw(facts, all, most, kKinds, drawn);
  std::ranges::sort(drawn);
  return drawn;
}

int first_reason(const GroupFacts& facts) noexcept {
  if (facts.is_picture) {
    const auto has = [&](const dedup::IssueRow& row) { return facts.issues.has(row.issue); };
    const auto rows = dedup::shown_issue_rows();
    return kGroupReasonCount + 1 + static_cast<int>(std::ranges::find_if(rows, has) - rows.begin());
  }
  return std::min(std::countr_zero(static_cast<unsigned>(facts.reasons)), kGroupReasonCount);
}

}  // namespace winnow::app
