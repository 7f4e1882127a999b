#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/fingerprints.h"

namespace winnow::dedup {

// Why one of two pictures stays.
enum class KeptFor : std::uint8_t {
  kShowsMore,     // the other is a crop
  kNothingAdded,  // the other is framed, captioned or edited
  kColour,        // the other is gray
  kDetail,        // the other is blurred, made smaller, or has lost tones
  kNotEnlarged,   // the other has more pixels and no more detail
  kLessCompressed,
  kPixels,  // nothing else tells: more pixels
  kFirst,   // nothing tells: the lower id
};
// "shows more", "nothing added", ...
std::string_view kept_for_words(KeptFor why) noexcept;

// One row is better than another that shows the same picture.
struct Preference {
  std::uint32_t better = 0;
  std::uint32_t worse = 0;
  KeptFor why = KeptFor::kFirst;
  bool is_likely = false;  // pixels say so; else columns alone
  bool is_sure = false;    // pixels show it

  friend bool operator==(const Preference&, const Preference&) = default;
};

// What columns alone tell: colour before gray, where measures are known; more pixels; then the
// lower row. Neither likely nor sure. `table` has preference_columns(); audit may be empty, for
// older tables have no measures.
Preference preference_by_columns(const Fingerprints& table, std::uint32_t row, std::uint32_t other);
// The columns it reads.
ColumnNames preference_columns();
// These rows, best first by what columns alone tell. A total order: the same for any order of rows.
std::vector<std::uint32_t> order_by_columns(const Fingerprints& table,
                                            std::span<const std::uint32_t> rows);
// By row of the table its place in that order of all rows.
std::vector<std::uint32_t> places_by_columns(const Fingerprints& table);

// One order of rows, made of preferences that may contradict each other.
//
// Order   again and again the row that loses the least share of its comparisons with those that are
//         left: of sure ones, then of likely ones, then of the rest; of equals, the one that wins
//         most; then as order_by_columns
// A pure function of the set of preferences and the table. O(n log n) of preferences.
class PreferredOrder {
 public:
  PreferredOrder(const Fingerprints& table, std::vector<Preference> preferences);

  // Of all rows of the table, each has another: less comes first.
  std::uint32_t place(std::uint32_t row) const noexcept { return places_[row]; }
  // In any order of the two; nothing where they were not compared.
  std::optional<Preference> between(std::uint32_t row, std::uint32_t other) const;

 private:
  std::vector<Preference> preferences_;  // by rows, the lower one first
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::dedup
