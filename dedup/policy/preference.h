#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dedup/table/fingerprints.h"

namespace winnow::dedup {

// Why one of two pictures is kept instead of the other.
enum class KeptFor : std::uint8_t {
  kShowsMore,     // the other is cropped
  kNothingAdded,  // the other picture has an added frame, caption or edit
  kColour,        // the other is gray
  kDetail,        // the other picture is blurred, reduced in size, or has lost tones
  kNotEnlarged,   // the other picture has more pixels but no more detail: it was enlarged
  kLessCompressed,
  kPixels,  // the kept picture has more pixels; no other difference was found
  kFirst,   // no difference was found; the kept picture has the lower id
};
// "shows more", "nothing added", ...
std::string_view kept_for_words(KeptFor why) noexcept;

// A comparison of two rows that show one picture: which row is better.
struct Preference {
  std::uint32_t better = 0;
  std::uint32_t worse = 0;
  KeptFor why = KeptFor::kFirst;
  bool is_likely = false;  // found by comparing pixels; false: by table columns only
  bool is_sure = false;    // found by comparing pixels, with certainty

  friend bool operator==(const Preference&, const Preference&) = default;
};

// Judges two rows by table columns alone: colour before gray if known, then more pixels, then the
// lower row. The result is neither likely nor sure.
// table  Has preference_columns(). Its column `audit` may be empty: older tables have no measures.
Preference preference_by_columns(const Fingerprints& table, std::uint32_t row, std::uint32_t other);
// The table columns that preference_by_columns() reads.
ColumnNames preference_columns();
// Sorts these rows by preference_by_columns(), best first. A total order, independent of the order
// of `rows`.
std::vector<std::uint32_t> order_by_columns(const Fingerprints& table,
                                            std::span<const std::uint32_t> rows);
// For each row of a table, its rank by preference_by_columns() among all rows; 0 is the best.
std::vector<std::uint32_t> places_by_columns(const Fingerprints& table);

// Makes one order of rows from preferences between pairs of them, which may contradict each other.
//
// Order  Repeatedly picks the row that loses the smallest share of its comparisons with the
//        remaining rows: of sure comparisons, then of likely ones, then of the rest. Ties: the row
//        that wins most, then order_by_columns().
// Depends only on the set of preferences and the table. O(n log n) for n preferences.
class PreferredOrder {
 public:
  PreferredOrder(const Fingerprints& table, std::vector<Preference> preferences);

  // The rank of a row, different for every row of the table. The best row has the smallest.
  std::uint32_t place(std::uint32_t row) const noexcept { return places_[row]; }
  // The preference between two rows, given in either order; nullopt if they were not compared.
  std::optional<Preference> between(std::uint32_t row, std::uint32_t other) const;

 private:
  std::vector<Preference> preferences_;  // sorted by lower row, then by higher row
  std::vector<std::uint32_t> places_;
};

}  // namespace winnow::dedup
