#include "pipeline/ingest/remarks.h"

#include <charconv>
#include <cmath>

#include "common/counted.h"
#include "common/error.h"

namespace winnow::pipeline {

void Remarks::add(const LedgerRow& row) {
  if (row.fate == Fate::kOk && !row.reason.empty()) ++warned;
  if (row.fate == Fate::kUnsupported) ++unsupported[row.reason];
}

void Remarks::add(const Remarks& other) {
  warned += other.warned;
  oriented += other.oriented;
  transparent += other.transparent;
  for (const auto& [reason, count] : other.unsupported) unsupported[reason] += count;
}

Gate::Limit parse_max_bad(const std::string& text) {
  Gate::Limit limit;
  const char* const end = text.data() + text.size();
  const auto [rest, error] =
      std::from_chars(text.data(), end, limit.value, std::chars_format::fixed);
  limit.percent = rest != end && *rest == '%';
  const bool whole = rest + (limit.percent ? 1 : 0) == end;
  const bool sane = std::isfinite(limit.value) && limit.value >= 0 &&
                    (limit.percent ? limit.value <= 100 : limit.value == std::floor(limit.value));
  if (error != std::errc() || !whole || !sane) {
    throw UsageError(
        "--max-bad takes a number of inputs or a share of them, such as 10 or 0.5%, not '" + text +
        "'");
  }
  return limit;
}

std::string refusal(const Gate& gate, const std::map<std::string, std::uint64_t>& classes,
                    std::uint64_t warned) {
  std::uint64_t inputs = 0;
  std::uint64_t left_out = 0;  // these were readable
  std::string list;
  for (const auto& [name, count] : classes) {
    inputs += count;
    if (name == fate_name(Fate::kDuplicate)) left_out = count;
    if (name == fate_name(Fate::kOk) || name == fate_name(Fate::kDuplicate) || count == 0) continue;
    list += (list.empty() ? "" : ", ") + std::to_string(count) + " " + name;
  }
  const std::uint64_t bad = inputs - classes.at("ok") - left_out;
  const std::uint64_t truncated = classes.at("truncated");
  const std::string of_all = " of " + count_of(inputs, "input");
  const std::string unreadable =
      std::to_string(bad) + of_all + " could not be read" + (bad > 0 ? " (" + list + ")" : "");
  if (gate.fail_on == Gate::FailOn::kTruncated && truncated > 0) {
    return std::to_string(truncated) + of_all + " end early, but --fail-on truncated allows none";
  }
  if (gate.fail_on == Gate::FailOn::kError && bad > 0) {
    return unreadable + ", but --fail-on error allows none";
  }
  if (gate.fail_on == Gate::FailOn::kWarning && bad + warned > 0) {
    return unreadable + ", " + std::to_string(warned) +
           " with warnings, but --fail-on warning allows none";
  }
  if (!gate.max_bad) return "";
  const Gate::Limit& limit = *gate.max_bad;
  const double allowed =
      limit.percent ? limit.value / 100 * static_cast<double>(inputs) : limit.value;
  if (static_cast<double>(bad) <= allowed) return "";
  std::string number = std::to_string(limit.value);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return unreadable + ", but --max-bad allows " + number + (limit.percent ? "%" : "");
}

}  // namespace winnow::pipeline
