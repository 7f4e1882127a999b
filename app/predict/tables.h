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

// How predictions are told.
struct Telling {
  std::vector<std::string> classes;  // UTF-8
  bool sigmoid = false;
  TableOptions table;
  bool windows = false;  // how many windows a picture has
  bool boxes = false;    // what they are
};

// The classes that a picture is of: the likeliest, or of several labels those above the threshold,
// the likeliest first. Of equal ones the first.
std::vector<std::int32_t> labels_of(const Telling& telling, std::span<const float> probabilities);

// The classes that a table has of a picture: the first `top`, or of several labels labels_of().
std::vector<std::int32_t> told_of(const Telling& telling, std::span<const float> probabilities);

std::string csv_header(const Telling& telling);
std::string csv_row(const Telling& telling, const std::string& name, const ImageResult& result);
// The boxes of a picture, a line each; their header.
std::string boxes_header();
std::string box_rows(const Telling& telling, const std::string& name, const ImageResult& result);
std::string json_row(const Telling& telling, const std::string& name, const ImageResult& result);

// Writes the files of a folder from results that come in the order of the inputs.
class Tables {
 public:
  // readable    how many results have probabilities
  // dimensions  of features; 0: there are none
  Tables(const std::filesystem::path& folder, const Telling& telling, std::uint64_t readable,
         std::uint64_t dimensions);

  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);
  // Puts them in place; returns their names.
  std::vector<std::string> finish();

 private:
  DurableFile& open(const std::string& name);
  void add_prediction(const std::string& name, const ImageResult& result);

  std::filesystem::path folder_;
  const Telling& telling_;
  std::uint64_t dimensions_;
  struct File {
    std::string name;
    std::unique_ptr<DurableFile> file;
  };
  std::vector<File> files_;
  DurableFile* predictions_ = nullptr;
  DurableFile* ledger_ = nullptr;
  DurableFile* names_ = nullptr;     // null: no matrix is written
  DurableFile* features_ = nullptr;  // likewise
  DurableFile* boxes_ = nullptr;     // null: there are none
};

// Hard links of pictures to folder/CLASS/NAME. Throws UsageError where there is something else.
class Sorter {
 public:
  Sorter(const std::filesystem::path& folder, const Telling& telling);
  void add(const Inputs& inputs, std::uint64_t at, const ImageResult& result);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace winnow::app
