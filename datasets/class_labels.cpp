#include "datasets/class_labels.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/counted.h"
#include "common/error.h"

namespace winnow::datasets {
namespace {

// More classes than any set has: a list must not decide how much memory is allocated.
constexpr std::int32_t kMaxIndex = 999'999;

std::optional<std::int32_t> index_in(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < 0 || value > kMaxIndex) return std::nullopt;
  return value;
}

}  // namespace

std::int32_t ClassLabels::add(std::string_view label) {
  const auto found = numbers_.find(label);
  if (found != numbers_.end()) return found->second;
  const auto number = static_cast<std::int32_t>(numbers_.size());
  numbers_.emplace(label, number);
  return number;
}

std::optional<std::int32_t> ClassLabels::add_if_any(std::string_view text) {
  minus_ones_ += text == "-1" ? 1 : 0;
  if (is_no_label(text)) return std::nullopt;
  return add(text);
}

std::string ClassLabels::note() const {
  const bool is_binary = minus_ones_ > 0 && numbers_.size() == 1 && numbers_.contains("1");
  if (!is_binary) return "";
  return "; labels are -1 and 1, and -1 is read as no label (" + std::to_string(minus_ones_) +
         " times): if it is a class, write 0 and 1, or names";
}

ClassLabels::Classes ClassLabels::finish(std::span<const std::string> given,
                                         const std::string& where) const {
  Classes classes;
  classes.index_of.resize(numbers_.size());
  const bool are_numbers = std::all_of(numbers_.begin(), numbers_.end(),
                                       [](const auto& row) { return index_in(row.first); });
  if (!are_numbers) {
    for (const auto& [label, number] : numbers_) {
      classes.index_of[static_cast<std::size_t>(number)] =
          static_cast<std::int32_t>(classes.names.size());
      classes.names.push_back(label);
    }
    return classes;
  }
  std::size_t count = 0;
  for (const auto& [label, number] : numbers_) {
    const std::int32_t index = *index_in(label);
    classes.index_of[static_cast<std::size_t>(number)] = index;
    count = std::max(count, static_cast<std::size_t>(index) + 1);
  }
  if (!given.empty() && count > given.size()) {
    throw UsageError(where + " names " + count_of(given.size(), "class", "classes") +
                     ", but label " + std::to_string(count - 1) +
                     " occurs; add the missing names, or remove the file");
  }
  if (!given.empty() && count > 0) {
    classes.names.assign(given.begin(), given.end());
  } else {
    classes.names.reserve(count);  // a single line may say 999999
    for (std::size_t i = 0; i < count; ++i) classes.names.push_back(std::to_string(i));
  }
  return classes;
}

bool is_no_label(std::string_view text) { return text.empty() || text == "-1"; }

Listing relabelled(const Listing& rows, std::span<const std::int32_t> index_of) {
  Listing out;
  out.reserve(rows.size());
  std::size_t at = 0;
  for (const std::string& name : rows.names()) {
    Entry entry{name, rows.split(at), {}, std::string(rows.group(at)), rows.input_bytes(at)};
    for (const std::int32_t label : rows.labels(at)) {
      entry.labels.push_back(index_of[static_cast<std::size_t>(label)]);
    }
    out.push_back(entry);
    ++at;
  }
  return out;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

}  // namespace winnow::datasets
