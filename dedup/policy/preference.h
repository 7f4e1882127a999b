#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Why one of two pictures is kept.
enum class KeptFor : std::uint8_t {
  kShowsMore,     // the other is cropped
  kNothingAdded,  // the other has a frame, a caption or edits
  kColour,        // the other is gray
  kDetail,        // the other is blurred, reduced in size, or has lost tones
  kNotEnlarged,   // the other has more pixels and no more detail
  kLessCompressed,
  kPixels,  // only because it has more pixels
  kFirst,   // no difference found: the lower id
};
// "shows more", "nothing added", ...
std::string_view kept_for_words(KeptFor why) noexcept;

// One row is better than another one of the same picture.
struct Preference {
  std::uint32_t better = 0;
  std::uint32_t worse = 0;
  KeptFor why = KeptFor::kFirst;
  bool is_likely = false;  // judged by pixels; else by columns only
  bool is_sure = false;    // shown by pixels

  friend bool operator==(const Preference&, const Preference&) = default;
};

// Preference by columns alone: colour before gray if measures are known, then more pixels, then the
// lower row. Neither likely nor sure.
// table  Has preference_columns(). `audit` may be empty, because older tables have no measures.
Preference preference_by_columns(const Fingerprints& table, std::uint32_t row, std::uint32_t other);
// The columns that preference_by_columns() reads.
ColumnNames preference_columns();
// These rows, best first by columns alone. A total order, independent of the order of `rows`.
std::vector<std::uint32_t> order_by_columns(const Fingerprints& table,
                                            std::span<const std::uint32_t> rows);
// For each row of the table, its place in that order.
std::vector<std::uint32_t> places_by_columns(const Fingerprints& table);

// One order of rows, made from preferences that may contradict each other.
//
// Order  Repeatedly picks the row that loses the smallest share of its comparisons with the
//        remaining rows: of sure ones, then of likely ones, then of the rest. Ties: the row that
//        wins most, then order_by_columns().
// A pure function of the set of preferences and the table. O(n log n) in the preferences.
class PreferredOrder {
 public:
  PreferredOrder(const Fingerprints& table, std::vector<Preference> preferences);

  // Rank of a row, different for all rows of the table; the smallest comes first.
  std::uint32_t place(std::uint32_t row) const noexcept { return places_[row]; }
  // The preference between two rows, in either order; nullopt if they were not compared.
  std::optional<Preference> between(std::uint32_t row, std::uint32_t other) const;

 private:
  std::vector<Preference> preferences_;  // by rows, the lower one first
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::dedup
