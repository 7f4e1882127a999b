#include "app/predict/summary.h"

#include <algorithm>

#include "common/json.h"
#include "common/json_reader.h"
#include "common/utf8.h"

namespace winnow::app {
namespace {

constexpr std::size_t kExamples = 6;

// Keeps the first few by `before`; on a tie, the earlier one.
template <class Before>
void keep_first(std::vector<Example>& examples, Example example, const Before& before) {
  const auto place = std::upper_bound(examples.begin(), examples.end(), example, before);
  examples.insert(place, std::move(example));
  if (examples.size() > kExamples) examples.pop_back();
}

Json to_json(const std::vector<Example>& examples) {
  Json list = Json::array();
  for (const Example& example : examples) {
    list.push_back({{"at", example.at},
                    {"name", to_utf8(example.name)},
                    {"probability", example.probability}});
  }
  return list;
}

std::vector<Example> examples_of(const JsonReader& list) {
  std::vector<Example> examples;
  for (const JsonReader& item : list.items()) {
    examples.push_back({item.at("at").number<std::uint64_t>(), from_utf8(item.at("name").text()),
                        static_cast<float>(item.at("probability").real())});
  }
  return examples;
}

}  // namespace

void add_to_report(const TableContent& telling, const Inputs& inputs, std::uint64_t at,
                   const ImageResult& result, PredictReport& report) {
  report.by_class.resize(telling.classes.size());
  ++report.images;
  ++report.by_fate[static_cast<std::size_t>(result.fate)];
  report.windows += result.windows;
  report.flat_windows += result.flat_windows;
  report.boxes += result.boxes.size();
  if (result.fate != pipeline::Fate::kOk) return;
  const std::vector<std::int32_t> labels = labels_of(telling, result.probabilities);
  if (labels.empty()) ++report.without_class;
  for (const std::int32_t label : labels) {
    ClassSummary& of_class = report.by_class[static_cast<std::size_t>(label)];
    ++of_class.images;
    const float probability = result.probabilities[static_cast<std::size_t>(label)];
    const auto is_one_of = [&](const std::vector<Example>& examples, const auto& before) {
      return examples.size() < kExamples || before(probability, examples.back().probability);
    };
    const auto surer = [](float a, float b) { return a > b; };
    const auto less_sure = [](float a, float b) { return a < b; };
    const auto put = [&](std::vector<Example>& examples, const auto& before) {
      if (!is_one_of(examples, before)) return;
      keep_first(
          examples, {at, inputs.name(at), probability},
          [&](const Example& a, const Example& b) { return before(a.probability, b.probability); });
    };
    put(of_class.surest, surer);
    put(of_class.least_sure, less_sure);
  }
}

std::string report_text(const PredictReport& report) {
  Json by_fate;
  for (const auto& [name, count] : pipeline::by_name(report.by_fate)) by_fate[name] = count;
  Json by_class = Json::array();
  for (std::size_t k = 0; k < report.classes.size(); ++k) {
    const ClassSummary& one = report.by_class[k];
    by_class.push_back({{"class", report.classes[k]},
                        {"images", one.images},
                        {"surest", to_json(one.surest)},
                        {"least_sure", to_json(one.least_sure)}});
  }
  return Json{{"version", 1},
              {"images", report.images},
              {"by_fate", std::move(by_fate)},
              {"by_class", std::move(by_class)},
              {"without_class", report.without_class},
              {"dimensions", report.dimensions},
              {"windows", report.windows},
              {"flat_windows", report.flat_windows},
              {"boxes", report.boxes},
              {"map_bytes", report.map_bytes},
              {"files", report.files},
              {"machines", report.machines}}
             .dump(1) +
         "\n";
}

PredictReport parse_report(const std::string& text, const std::string& where) {
  const JsonReader json(text, {.name = where, .remedy = "remove it to have it made again"});
  if (json.at("version").number() != 1) json.fail("is of a newer winnow");
  PredictReport report;
  report.images = json.at("images").number<std::uint64_t>();
  const JsonReader by_fate = json.at("by_fate");
  for (int fate = 0; fate < pipeline::kFateCount; ++fate) {
    const auto count = by_fate.find(pipeline::fate_name(static_cast<pipeline::Fate>(fate)));
    if (count) report.by_fate[static_cast<std::size_t>(fate)] = count->number<std::uint64_t>();
  }
  for (const JsonReader& one : json.at("by_class").items()) {
    report.classes.push_back(one.at("class").text());
    report.by_class.push_back({one.at("images").number<std::uint64_t>(),
                               examples_of(one.at("surest")), examples_of(one.at("least_sure"))});
  }
  report.without_class = json.at("without_class").number<std::uint64_t>();
  report.dimensions = json.at("dimensions").number<std::uint64_t>();
  report.windows = json.at("windows").number<std::uint64_t>();
  report.flat_windows = json.at("flat_windows").number<std::uint64_t>();
  report.boxes = json.at("boxes").number<std::uint64_t>();
  report.map_bytes = json.at("map_bytes").number<std::uint64_t>();
  report.files = json.at("files").texts();
  report.machines = json.at("machines").texts();
  return report;
}

}  // namespace winnow::app
