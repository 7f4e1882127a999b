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

// Labels as lists write them, gathered before it is known whether they are numbers or names.
//
// Where every label is a whole number from 0 to 999999, written without zeros before it, a label is
// the index of its class, and the classes are "0" to the largest. Otherwise labels are names, and
// the classes are these, sorted by their bytes.
class ClassLabels {
 public:
  // A number for the label, equal for equal ones, until finish() gives its class.
  std::int32_t add(std::string_view label);
  // The same; nothing where the text says that there is no label (is_no_label).
  std::optional<std::int32_t> add_if_any(std::string_view text);

  struct Classes {
    std::vector<std::string> names;
    std::vector<std::int32_t> index_of;  // by what add() gave
  };
  // `given` are names for labels that are numbers, in their order, or none; `where` says from what.
  // Throws UsageError where a label has no name among them.
  Classes finish(std::span<const std::string> given, const std::string& where) const;

  // "; labels are -1 and 1, ..." where a mistake is likely, for the end of a description.
  std::string note() const;

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::uint64_t minus_ones_ = 0;
};

// Whether this says that there is no label: nothing, or -1 as in lists of test images.
bool is_no_label(std::string_view text);

// The same rows with index_of[label] for each label.
Listing relabelled(const Listing& rows, std::span<const std::int32_t> index_of);

// `text` without blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace winnow::datasets
