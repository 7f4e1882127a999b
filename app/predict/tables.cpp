#include "app/predict/tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

#include "common/csv.h"
#include "common/error.h"
#include "common/json.h"
#include "common/npy.h"
#include "common/utf8.h"
#include "pipeline/export/names.h"
#include "pipeline/export/source_files.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;
// The `most` likeliest classes; on a tie, the first.
std::vector<std::int32_t> likeliest(std::span<const float> probabilities, std::size_t most) {
  std::vector<std::int32_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), 0);
  most = std::min(most, order.size());
  const auto of = [&](std::int32_t label) {
    return probabilities[static_cast<std::size_t>(label)];
  };
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
      [&](std::int32_t a, std::int32_t b) { return of(a) != of(b) ? of(a) > of(b) : a < b; });
  order.resize(most);
  return order;
}

std::size_t columns_of(const TableContent& telling) {
  return std::min(static_cast<std::size_t>(telling.table.top), telling.classes.size());
}

Json box_json(const TableContent& telling, const FoundBox& box) {
  return {{"class", telling.classes[static_cast<std::size_t>(box.label)]},
          {"top", box.top},
          {"left", box.left},
          {"height_px", box.height_px},
          {"width_px", box.width_px},
          {"most", box.most},
          {"mean", box.mean}};
}

// Appends a row of a matrix; NaN for a picture without an answer.
void append(DurableFile& matrix, const std::vector<float>& row, std::size_t columns) {
  if (!row.empty()) return matrix.append(as_bytes(row));
  matrix.append(as_bytes(std::vector(columns, std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace

TableFormat parse_table_format(const std::string& name) {
  if (name == "csv") return TableFormat::kCsv;
  if (name == "jsonl") return TableFormat::kJsonLines;
  if (name == "npy") return TableFormat::kNpy;
  throw UsageError("there is no table format '" + name + "'; use csv, jsonl or npy");
}

std::vector<std::int32_t> labels_of(const TableContent& telling,
                                    std::span<const float> probabilities) {
  if (probabilities.empty()) return {};
  if (!telling.sigmoid) return likeliest(probabilities, 1);
  std::vector<std::int32_t> labels = likeliest(probabilities, probabilities.size());
  std::erase_if(labels, [&](std::int32_t label) {
    return !(double{probabilities[static_cast<std::size_t>(label)]} > telling.table.threshold);
  });
  return labels;
}

std::vector<std::int32_t> listed_labels(const TableContent& telling,
                                        std::span<const float> probabilities) {
  if (telling.sigmoid) return labels_of(telling, probabilities);
  return likeliest(probabilities, columns_of(telling));
}

std::string csv_header(const TableContent& telling) {
  std::string header = "name,class,probability";
  for (std::size_t k = 2; !telling.sigmoid && k <= columns_of(telling); ++k) {
    header += fmt::format(",class_{},probability_{}", k, k);
  }
  if (telling.windows) header += ",height_px,width_px,windows,flat_windows";
  return header + "\n";
}

std::string boxes_header() { return "name,class,top,left,height_px,width_px,most,mean\n"; }

std::string box_rows(const TableContent& telling, const std::string& name,
                     const ImageResult& result) {
  std::string rows;
  for (const FoundBox& box : result.boxes) {
    const std::string& label = telling.classes[static_cast<std::size_t>(box.label)];
    rows += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(name), csv_field(from_utf8(label)),
                        box.top, box.left, box.height_px, box.width_px, box.most, box.mean);
  }
  return rows;
}

std::string csv_row(const TableContent& telling, const std::string& name,
                    const ImageResult& result) {
  std::string classes;
  std::string probabilities;
  std::string row = csv_field(name);
  for (const std::int32_t label : listed_labels(telling, result.probabilities)) {
    const auto k = static_cast<std::size_t>(label);
    const std::string called = from_utf8(telling.classes[k]);
    const std::string probability = fmt::format("{}", result.probabilities[k]);
    if (!telling.sigmoid) {
      row += "," + csv_field(called) + "," + probability;
      continue;
    }
    classes += (classes.empty() ? "" : "|") + called;
    probabilities += (probabilities.empty() ? "" : "|") + probability;
  }
  if (telling.sigmoid) row += "," + csv_field(classes) + "," + probabilities;
  // All windows of the picture were skipped, so it has no answer.
  for (std::size_t k = 0;
       !telling.sigmoid && result.probabilities.empty() && k < columns_of(telling); ++k) {
    row += ",,";
  }
  if (telling.windows) {
    row += fmt::format(",{},{},{},{}", result.height_px, result.width_px, result.windows,
                       result.flat_windows);
  }
  return row + "\n";
}

std::string json_row(const TableContent& telling, const std::string& name,
                     const ImageResult& result) {
  Json classes = Json::array();
  for (const std::int32_t label : listed_labels(telling, result.probabilities)) {
    const auto k = static_cast<std::size_t>(label);
    classes.push_back({{"class", telling.classes[k]}, {"probability", result.probabilities[k]}});
  }
  Json row{{"name", to_utf8(name)}, {"classes", std::move(classes)}};
  if (telling.windows) {
    row["height_px"] = result.height_px;
    row["width_px"] = result.width_px;
    row["windows"] = result.windows;
    row["flat_windows"] = result.flat_windows;
    Json boxes = Json::array();
    for (const FoundBox& box : result.boxes) boxes.push_back(box_json(telling, box));
    row["boxes"] = std::move(boxes);
  }
  return row.dump() + "\n";
}

Tables::Tables(const fs::path& folder, const TableContent& telling, std::uint64_t readable,
               std::uint64_t dimensions)
    : folder_(folder), telling_(telling), dimensions_(dimensions) {
  open("classes.json").append(as_bytes(Json(telling.classes).dump(1) + "\n"));
  ledger_ = &open("ledger.jsonl");
  const TableFormat format = telling.table.format;
  if (format == TableFormat::kCsv) {
    predictions_ = &open("predictions.csv");
    predictions_->append(as_bytes(csv_header(telling)));
  } else if (format == TableFormat::kJsonLines) {
    predictions_ = &open("predictions.jsonl");
  } else {
    predictions_ = &open("predictions.npy");
    predictions_->append(as_bytes(npy_header(readable, telling.classes.size())));
  }
  if (telling.boxes) {
    boxes_ = &open("boxes.csv");
    boxes_->append(as_bytes(boxes_header()));
  }
  if (format == TableFormat::kNpy || dimensions > 0) names_ = &open("names.txt");
  if (dimensions == 0) return;
  features_ = &open("features.npy");
  features_->append(as_bytes(npy_header(readable, dimensions)));
}

DurableFile& Tables::open(const std::string& name) {
  files_.push_back({name, std::make_unique<DurableFile>(folder_ / name)});
  return *files_.back().file;
}

void Tables::add(const Inputs& inputs, std::uint64_t at, const ImageResult& result) {
  const std::string name = inputs.name(at);
  pipeline::LedgerRow row{.id = inputs.id(at),
                          .name = name,
                          .split = inputs.split(at),
                          .fate = result.fate,
                          .reason = result.reason};
  if (result.fate != pipeline::Fate::kOk) row.bytes = inputs.bytes(at);
  ledger_->append(as_bytes(pipeline::to_json_lines({std::move(row)})));
  if (result.fate == pipeline::Fate::kOk) add_prediction(name, result);
}

void Tables::add_prediction(const std::string& name, const ImageResult& result) {
  switch (telling_.table.format) {
    case TableFormat::kCsv:
      predictions_->append(as_bytes(csv_row(telling_, name, result)));
      break;
    case TableFormat::kJsonLines:
      predictions_->append(as_bytes(json_row(telling_, name, result)));
      break;
    case TableFormat::kNpy:
      append(*predictions_, result.probabilities, telling_.classes.size());
      break;
  }
  if (boxes_ != nullptr) boxes_->append(as_bytes(box_rows(telling_, name, result)));
  if (names_ != nullptr) names_->append(as_bytes(to_utf8(name) + "\n"));
  if (features_ != nullptr) append(*features_, result.features, dimensions_);
}

std::vector<std::string> Tables::finish() {
  std::vector<std::string> names;
  for (File& file : files_) {
    file.file->finish();
    names.push_back(file.name);
  }
  return names;
}

struct Sorter::State {
  fs::path folder;
  const TableContent& telling;
  std::vector<std::string> folders;  // by class
  pipeline::UniquePaths paths;
};

Sorter::Sorter(const fs::path& folder, const TableContent& telling)
    : state_(std::make_shared<State>(State{folder, telling, {}, {}})) {
  std::vector<std::string> names;
  for (const std::string& name : telling.classes) names.push_back(from_utf8(name));
  state_->folders = pipeline::folder_names(names);
}

void Sorter::add(const Inputs& inputs, std::uint64_t at, const ImageResult& result) {
  const std::optional<fs::path> file = inputs.file_of(at);
  if (!file) return;
  for (const std::int32_t label : labels_of(state_->telling, result.probabilities)) {
    const std::string& folder = state_->folders[static_cast<std::size_t>(label)];
    const std::string name = pipeline::file_name(inputs.name(at), "", false);
    const fs::path link = state_->folder / state_->paths.claim(folder, name, inputs.id(at));
    make_directories(link.parent_path());
    std::error_code ignored;
    if (fs::equivalent(link, *file, ignored)) continue;  // an earlier call made it
    if (fs::exists(fs::symlink_status(link, ignored))) {
      throw UsageError(link.string() +
                       " already exists and is not the image that belongs there; name another "
                       "folder with --sort-into");
    }
    pipeline::make_link(*file, link, pipeline::Link::kHard);
  }
}

}  // namespace winnow::app
