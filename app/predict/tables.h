#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/predict.h"
#include "app/predict/results.h"
#include "common/file.h"

namespace winnow::app {

// Content of tables of predictions.
struct TableContent {
  std::vector<std::string> classes;  // UTF-8
  bool sigmoid = false;
  TableOptions table;
  bool windows = false;  // with the number of windows of a picture
  bool boxes = false;    // with boxes
};

// The classes of a picture, likeliest first (on a tie the first): the likeliest, or with several
// labels per image those above the threshold.
std::vector<std::int32_t> labels_of(const TableContent& telling,
                                    std::span<const float> probabilities);

// The classes of a picture in a table: the first `top`, or with several labels per image
// labels_of().
std::vector<std::int32_t> listed_labels(const TableContent& telling,
                                        std::span<const float> probabilities);

std::string csv_header(const TableContent& telling);
std::string csv_row(const TableContent& telling, const std::string& name,
                    const ImageResult& result);
// Header and rows of a picture's boxes, one line each.
std::string boxes_header();
std::string box_rows(const TableContent& telling, const std::string& name,
                     const ImageResult& result);
std::string json_row(const TableContent& telling, const std::string& name,
                     const ImageResult& result);

// Writes the files of a folder from results in the order of the inputs.
class Tables {
 public:
  // readable    number of results with probabilities
  // dimensions  of features; 0: no features
  Tables(const std::filesystem::path& folder, const TableContent& telling, std::uint64_t readable,
         std::uint64_t dimensions);

  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);
  // Puts the files in place. Returns their names.
  std::vector<std::string> finish();

 private:
  DurableFile& open(const std::string& name);
  void add_prediction(const std::string& name, const ImageResult& result);

  std::filesystem::path folder_;
  const TableContent& telling_;
  std::uint64_t dimensions_;
  struct File {
    std::string name;
    std::unique_ptr<DurableFile> file;
  };
  std::vector<File> files_;
  DurableFile* predictions_ = nullptr;
  DurableFile* ledger_ = nullptr;
  DurableFile* names_ = nullptr;     // null: no matrix is written
  DurableFile* features_ = nullptr;  // null: no features
  DurableFile* boxes_ = nullptr;     // null: no boxes
};

// Makes hard links of pictures, folder/CLASS/NAME. Throws UsageError if something else has that
// name.
class Sorter {
 public:
  Sorter(const std::filesystem::path& folder, const TableContent& telling);
  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace winnow::app
