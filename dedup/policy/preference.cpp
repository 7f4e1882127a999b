#include "dedup/policy/preference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace winnow::dedup {
namespace {

constexpr std::array<std::string_view, 8> kWords{"shows more",  "nothing added", "colour",
                                                 "more detail", "not enlarged",  "less compressed",
                                                 "more pixels", "first"};

bool is_gray(const Fingerprints& table, std::uint32_t row) {
  return !table.audit.empty() && is_gray(table.audit[row]);
}

std::uint64_t pixels_of(const Fingerprints& table, std::uint32_t row) {
  return std::uint64_t{table.widths_px[row]} * table.heights_px[row];
}

// Smaller is better.
auto key_by_columns(const Fingerprints& table, std::uint32_t row) {
  return std::tuple(is_gray(table, row), ~pixels_of(table, row), row);
}

auto rows_of(const Preference& one) {
  return std::pair(std::min(one.better, one.worse), std::max(one.better, one.worse));
}

// The class of a preference; 0 counts most.
constexpr std::size_t kWeights = 3;
std::size_t weight_of(const Preference& one) { return one.is_sure ? 0 : one.is_likely ? 1 : 2; }

// Comparisons of a row with the remaining ones.
struct Record {
  std::array<std::uint32_t, kWeights> lost{};
  std::array<std::uint32_t, kWeights> won{};

  // Smaller is better.
  auto key() const {
    const auto share = [&](std::size_t i) {
      return static_cast<double>(lost[i]) / (1.0 + lost[i] + won[i]);
    };
    return std::tuple(share(0), share(1), ~won[0], ~won[1], share(2));
  }
};

}  // namespace

std::string_view kept_for_words(KeptFor why) noexcept {
  return kWords[static_cast<std::size_t>(why)];
}

ColumnNames preference_columns() { return {"widths_px", "heights_px", "audit"}; }

Preference preference_by_columns(const Fingerprints& table, std::uint32_t row,
                                 std::uint32_t other) {
  const auto better = [&](bool is_row, KeptFor why) {
    return is_row ? Preference{row, other, why} : Preference{other, row, why};
  };
  if (is_gray(table, row) != is_gray(table, other)) {
    return better(is_gray(table, other), KeptFor::kColour);
  }
  const std::uint64_t here = pixels_of(table, row);
  const std::uint64_t there = pixels_of(table, other);
  if (here != there) return better(here > there, KeptFor::kPixels);
  return better(row < other, KeptFor::kFirst);
}

std::vector<std::uint32_t> order_by_columns(const Fingerprints& table,
                                            std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> order(rows.begin(), rows.end());
  std::ranges::sort(order, {}, [&](std::uint32_t row) { return key_by_columns(table, row); });
  return order;
}

std::vector<std::uint32_t> places_by_columns(const Fingerprints& table) {
  std::vector<std::uint32_t> rows(table.size());
  std::iota(rows.begin(), rows.end(), std::uint32_t{0});
  const std::vector<std::uint32_t> order = order_by_columns(table, rows);
  std::vector<std::uint32_t> places(table.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

PreferredOrder::PreferredOrder(const Fingerprints& table, std::vector<Preference> preferences)
    : preferences_(std::move(preferences)), places_(table.size()) {
  std::ranges::sort(preferences_, {}, rows_of);
  std::vector<Record> records(table.size());
  std::vector<std::vector<std::uint32_t>> of_row(table.size());  // numbers of preferences
  for (std::uint32_t i = 0; i < preferences_.size(); ++i) {
    const Preference& one = preferences_[i];
    const std::size_t weight = weight_of(one);
    ++records[one.better].won[weight];
    ++records[one.worse].lost[weight];
    of_row[one.better].push_back(i);
    of_row[one.worse].push_back(i);
  }
  const std::vector<std::uint32_t> ranks = places_by_columns(table);
  const auto entry = [&](std::uint32_t row) {
    return std::tuple_cat(records[row].key(), std::tuple(ranks[row], row));
  };
  using Entry = decltype(entry(0));
  constexpr std::size_t kRow = std::tuple_size_v<Entry> - 1;
  std::set<Entry> left;
  for (std::uint32_t row = 0; row < table.size(); ++row) left.insert(entry(row));
  std::vector<bool> is_placed(table.size());
  for (std::uint32_t place = 0; !left.empty(); ++place) {
    const std::uint32_t best = std::get<kRow>(*left.begin());
    left.erase(left.begin());
    places_[best] = place;
    is_placed[best] = true;
    for (const std::uint32_t i : of_row[best]) {
      const Preference& one = preferences_[i];
      const bool has_won = one.better == best;
      const std::uint32_t other = has_won ? one.worse : one.better;
      if (is_placed[other]) continue;
      left.erase(entry(other));
      auto& record = records[other];
      --(has_won ? record.lost : record.won)[weight_of(one)];
      left.insert(entry(other));
    }
  }
}

std::optional<Preference> PreferredOrder::between(std::uint32_t row, std::uint32_t other) const {
  const auto wanted = std::pair(std::min(row, other), std::max(row, other));
  const auto at = std::ranges::lower_bound(preferences_, wanted, {}, rows_of);
  if (at == preferences_.end() || rows_of(*at) != wanted) return std::nullopt;
  return *at;
}

}  // namespace winnow::dedup
