#include "pipeline/load/class_weights.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "common/csv.h"
#include "common/error.h"
#include "common/file.h"
#include "common/list_text.h"

namespace winnow::pipeline {
namespace {

// The only label; -1 for none or several.
std::int32_t only_label(const SampleLabels& labels, std::size_t row) {
  const auto own = labels[row];
  return own.size() == 1 ? own.front() : -1;
}

double parse_weight(const std::string& text, const std::string& where) {
  double weight = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, weight);
  if (error != std::errc() || rest != end || !(weight >= 0 && weight <= kMostClassWeight)) {
    throw UsageError(where + " has the weight '" + text +
                     "'; write a number from 0 (ignored) to a million");
  }
  return weight;
}

std::map<std::string, double> read_weights(const std::filesystem::path& file) {
  std::map<std::string, double> weights;
  CsvReader reader(',', file.string(), [&](std::span<const std::string> row, std::uint64_t line) {
    const std::string where = file.string() + ", line " + std::to_string(line) + ",";
    if (row.size() != 2) {
      throw UsageError(where + " has " + std::to_string(row.size()) +
                       " fields; write class,weight on each line");
    }
    if (line == 1 && row[0] == "class" && row[1] == "weight") return;
    if (!weights.emplace(row[0], parse_weight(row[1], where)).second) {
      throw UsageError(where + " names class '" + row[0] + "' a second time; keep one line for it");
    }
  });
  reader.feed(read_list_text(file));
  reader.finish();
  if (weights.empty()) {
    throw UsageError(file.string() + " names no class; write class,weight on each line");
  }
  return weights;
}

}  // namespace

ClassWeights parse_class_weights(const std::string& text) {
  if (text == "balanced") return {.balanced = true};
  if (!std::filesystem::exists(text)) {
    throw UsageError("--class-weights " + text + " is neither balanced nor an existing file");
  }
  return {.of = read_weights(text)};
}

std::vector<double> class_factors(const ClassWeights& weights, const SampleLabels& labels,
                                  const std::vector<std::string>& classes) {
  std::vector<double> factors(classes.size(), 1.0);
  std::map<std::string, double> unknown = weights.of;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const auto found = unknown.extract(classes[c]);
    if (found) factors[c] = found.mapped();
  }
  if (!unknown.empty()) {
    throw UsageError("--class-weights names '" + unknown.begin()->first +
                     "', which is not a class of the cache; winnow info lists them");
  }
  if (!weights.balanced) return factors;
  std::vector<double> counts(classes.size());
  for (std::size_t row = 0; row + 1 < labels.offsets.size(); ++row) {
    const std::int32_t label = only_label(labels, row);
    if (label >= 0 && static_cast<std::size_t>(label) < counts.size()) {
      ++counts[static_cast<std::size_t>(label)];
    }
  }
  double samples = 0;
  double occurring = 0;
  for (const double count : counts) {
    samples += count;
    if (count > 0) ++occurring;
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] > 0) factors[c] = samples / (occurring * counts[c]);
  }
  return factors;
}

SampleSet weigh_classes(const SampleSet& samples, const SampleLabels& labels,
                        const std::vector<double>& factors) {
  // Samples that take turns continue to do so: each place is identified by its first sample.
  std::vector<SampleId> place_of(samples.ids);
  for (std::size_t place = 0; place + 1 < samples.turn_offsets.size(); ++place) {
    for (std::uint32_t i = samples.turn_offsets[place]; i < samples.turn_offsets[place + 1]; ++i) {
      place_of[samples.turn_rows[i]] = samples.ids[first_row(samples, place)];
    }
  }
  SampleSet left;
  std::vector<SampleId> stands_for;
  for (std::size_t row = 0; row < samples.ids.size(); ++row) {
    const std::int32_t label = only_label(labels, row);
    const bool known = label >= 0 && static_cast<std::size_t>(label) < factors.size();
    const double factor = known ? factors[static_cast<std::size_t>(label)] : 1.0;
    const auto weight = static_cast<float>(samples.weights[row] * factor);
    if (weight == 0) continue;
    left.ids.push_back(samples.ids[row]);
    left.weights.push_back(weight);
    stands_for.push_back(place_of[row]);
  }
  if (left.ids.empty()) {
    throw UsageError("--class-weights leaves no training sample; give a class a weight above 0");
  }
  if (samples.turn_offsets.empty()) return left;
  return take_turns(std::move(left.ids), std::move(left.weights), stands_for);
}

}  // namespace winnow::pipeline
