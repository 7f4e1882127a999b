#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/listing.h"

namespace winnow::datasets {

// Collects labels as texts, before it is known whether they are numbers or names of classes.
//
// Numbers  If every label is an integer from 0 to 999999 without leading zeros, a label is the
//          index of its class. The classes are "0" up to the largest.
// Names    Otherwise labels are names, and the classes are these names, sorted by bytes.
class ClassLabels {
 public:
  // Adds a label. Returns a provisional number, the same for equal labels. finish() says which
  // class each number is.
  std::int32_t add(std::string_view label);
  // Like add(), but returns nullopt if the text means "no label" (is_no_label).
  std::optional<std::int32_t> add_if_any(std::string_view text);

  struct Classes {
    std::vector<std::string> names;
    // Index of the class, by provisional number (result of add()).
    std::vector<std::int32_t> index_of;
  };
  // Determines the classes, when all labels were added.
  // given   Class names for numeric labels, in order; may be empty.
  // where   Where the class names come from, for messages.
  // Errors  UsageError if a numeric label has no name in `given`.
  Classes finish(std::span<const std::string> given, const std::string& where) const;

  // A warning about a likely mistake, to be appended to a data set's description: "; labels are -1
  // and 1, ...". Empty if there is none.
  std::string note() const;

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::uint64_t minus_ones_ = 0;
};

// Whether the text means "no label": empty, or -1 as in lists of test images.
bool is_no_label(std::string_view text);

// A copy of `rows` in which each label is replaced by index_of[label].
Listing relabelled(const Listing& rows, std::span<const std::int32_t> index_of);

// `text` without surrounding blanks, tabs and line ends.
std::string_view trimmed(std::string_view text);

}  // namespace winnow::datasets
