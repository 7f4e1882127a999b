#include "train/run/record/stored_evaluation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"
#include "train/run/record/run_state.h"

namespace winnow::train {
namespace {

constexpr int kVersion = 1;
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 53;  // all of them numbers in a double

int digit_value(char digit) { return static_cast<int>(kDigits.find(digit)); }

// One that is no number counts as the largest.
double finite(float loss) {
  return double{std::isfinite(loss) ? loss : std::numeric_limits<float>::max()};
}

std::vector<StoredEvaluation::Mistake> worst_of(const Evaluation& evaluation,
                                                const std::vector<SampleId>& ids) {
  std::vector<StoredEvaluation::Mistake> mistakes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (evaluation.labels[i] < 0 || evaluation.labels[i] == evaluation.predictions[i]) continue;
    mistakes.push_back({.id = ids[i],
                        .label = evaluation.labels[i],
                        .prediction = evaluation.predictions[i],
                        .loss = finite(evaluation.losses[i])});
  }
  const std::size_t kept = std::min(kMostMistakes, mistakes.size());
  std::ranges::partial_sort(
      mistakes, mistakes.begin() + static_cast<std::ptrdiff_t>(kept),
      [](const auto& a, const auto& b) { return std::tie(b.loss, a.id) < std::tie(a.loss, b.id); });
  mistakes.resize(kept);
  return mistakes;
}

// As many are right as the confusion says.
std::string parse_right(const JsonReader& in, const StoredEvaluation& stored) {
  std::string digits = in.text();
  std::uint64_t right = 0;
  for (const char digit : digits) {
    if (kDigits.find(digit) == std::string_view::npos) in.fail("is not hexadecimal");
    right += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(digit_value(digit))));
  }
  for (const auto& cell : stored.confusion) {
    if (cell.label == cell.prediction) right -= cell.samples;
  }
  if (right != 0) in.fail("does not agree with the correct predictions in 'confusion'");
  return digits;
}

// Requires strictly ascending cells with at least one sample each. So there is at most one for each
// pair of classes, and shares of a label are defined.
std::vector<StoredEvaluation::Confusion> parse_confusion(const JsonReader& in, std::int32_t last) {
  std::vector<StoredEvaluation::Confusion> confusion;
  std::uint64_t left = kMostSamples;
  for (const JsonReader& row : in.items()) {
    const std::vector<JsonReader> cells = row.items(3);
    const StoredEvaluation::Confusion next{cells[0].number(last), cells[1].number(last),
                                           cells[2].number(left)};
    const auto place = [](const auto& c) { return std::pair(c.label, c.prediction); };
    if (next.samples == 0) row.fail("has no samples");
    if (!confusion.empty() && place(next) <= place(confusion.back())) {
      row.fail("is out of order: entries are sorted by label, then by prediction");
    }
    left -= next.samples;
    confusion.push_back(next);
  }
  return confusion;
}

}  // namespace

std::string right_digits(std::span<const std::int32_t> labels,
                         std::span<const std::int32_t> predictions) {
  std::string digits((labels.size() + 3) / 4, '0');
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] != predictions[i]) continue;
    const int value = digit_value(digits[i / 4]) + (8 >> (i % 4));
    digits[i / 4] = kDigits[static_cast<std::size_t>(value)];
  }
  return digits;
}

StoredEvaluation stored_evaluation(const Evaluation& evaluation, const std::vector<SampleId>& ids,
                                   const std::vector<std::string>& classes,
                                   StoredEvaluation::About about) {
  StoredEvaluation stored{.about = std::move(about), .classes = {}};
  for (const std::string& name : classes) stored.classes.push_back(to_utf8(name));
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (evaluation.labels[i] < 0) continue;
    ++counts[{evaluation.labels[i], evaluation.predictions[i]}];
  }
  for (const auto& [pair, samples] : counts) {
    stored.confusion.push_back({pair.first, pair.second, samples});
  }
  stored.worst = worst_of(evaluation, ids);
  stored.right = right_digits(evaluation.labels, evaluation.predictions);
  return stored;
}

std::string to_text(const StoredEvaluation& evaluation) {
  Json confusion = Json::array();
  for (const auto& row : evaluation.confusion) {
    confusion.push_back({row.label, row.prediction, row.samples});
  }
  Json worst = Json::array();
  for (const auto& mistake : evaluation.worst) {
    worst.push_back({{"id", mistake.id},
                     {"label", mistake.label},
                     {"prediction", mistake.prediction},
                     {"loss", mistake.loss}});
  }
  const StoredEvaluation::About& about = evaluation.about;
  return Json{{"version", kVersion},           {"step", about.step},
              {"epoch", about.epoch},          {"split", about.split},
              {"cache", to_utf8(about.cache)}, {"cache_digest", about.cache_digest},
              {"classes", evaluation.classes}, {"confusion", std::move(confusion)},
              {"worst", std::move(worst)},     {"right", evaluation.right}}
             .dump() +
         "\n";
}

StoredEvaluation parse_evaluation(const std::string& text, const std::string& where) {
  const JsonReader in(text, {where, "remove it, or evaluate again by winnow train --resume auto"});
  const auto version = in.at("version").number<int>();
  if (version > kVersion) in.fail("was written by a newer winnow");
  if (version < 1) in.at("version").fail("is not a version that ever existed");
  StoredEvaluation stored{.about = {.step = in.at("step").number(kMostSteps),
                                    .epoch = in.at("epoch").real_from_0(),
                                    .split = in.at("split").text(),
                                    .cache = from_utf8(in.at("cache").text()),
                                    .cache_digest = in.at("cache_digest").text()},
                          .classes = in.at("classes").texts()};
  const auto last = static_cast<std::int32_t>(stored.classes.size()) - 1;
  if (last < 0) in.at("classes").fail("is empty");
  if (stored.about.split != "val" && stored.about.split != "test") {
    in.at("split").fail("is neither val nor test");
  }
  stored.confusion = parse_confusion(in.at("confusion"), last);
  const std::vector<JsonReader> worst = in.at("worst").items();
  if (worst.size() > kMostMistakes) {
    in.at("worst").fail("has more than " + std::to_string(kMostMistakes) + " entries");
  }
  std::set<SampleId> seen;
  for (const JsonReader& row : worst) {
    const bool is_new = seen.insert(row.at("id").number<SampleId>()).second;
    if (!is_new) row.fail("names a sample a second time");
    stored.worst.push_back({.id = row.at("id").number<SampleId>(),
                            .label = row.at("label").number(last),
                            .prediction = row.at("prediction").number(last),
                            .loss = row.at("loss").real_from_0()});
  }
  if (const auto right = in.find("right")) stored.right = parse_right(*right, stored);
  return stored;
}

}  // namespace winnow::train
