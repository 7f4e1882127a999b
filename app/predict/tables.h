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

// Settings for the content of the tables of predictions.
struct TableContent {
  std::vector<std::string> classes;  // names of the classes, UTF-8
  bool sigmoid = false;
  TableOptions table;
  bool windows = false;  // whether rows have the number of windows of the picture
  bool boxes = false;    // whether a table of boxes is written
};

// The predicted classes of a picture: the most probable one (the first on a tie); with several
// labels per image all above the threshold, most probable first.
std::vector<std::int32_t> labels_of(const TableContent& telling,
                                    std::span<const float> probabilities);

// The classes that a table lists for a picture: the `top` most probable ones; with several labels
// per image labels_of().
std::vector<std::int32_t> listed_labels(const TableContent& telling,
                                        std::span<const float> probabilities);

std::string csv_header(const TableContent& telling);
std::string csv_row(const TableContent& telling, const std::string& name,
                    const ImageResult& result);
// The header of the table of boxes, and the rows of a picture's boxes, one line each.
std::string boxes_header();
std::string box_rows(const TableContent& telling, const std::string& name,
                     const ImageResult& result);
std::string json_row(const TableContent& telling, const std::string& name,
                     const ImageResult& result);

// Writes the tables of predictions. Results must be added in the order of the inputs.
class Tables {
 public:
  // readable    number of results with probabilities
  // dimensions  length of a feature vector; 0: no features
  Tables(const std::filesystem::path& folder, const TableContent& telling, std::uint64_t readable,
         std::uint64_t dimensions);

  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);
  // Completes all files and gives them their final names. Returns these names.
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
  DurableFile* names_ = nullptr;     // null: no .npy matrix is written
  DurableFile* features_ = nullptr;  // null: no features
  DurableFile* boxes_ = nullptr;     // null: no boxes
};

// Makes hard links to pictures by predicted class: folder/CLASS/NAME. Throws UsageError if another
// file has that name.
class Sorter {
 public:
  Sorter(const std::filesystem::path& folder, const TableContent& telling);
  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace winnow::app
