#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/predict/inputs.h"
#include "app/predict/net.h"
#include "app/predict/results.h"
#include "app/predict/windowed_images.h"
#include "app/session.h"
#include "pipeline/store/ledger.h"
#include "train/tensor/tensor.h"

namespace winnow::app {

enum class TableFormat : std::uint8_t { kCsv, kJsonLines, kNpy };
TableFormat parse_table_format(const std::string& name);  // "csv", "jsonl", "npy"

// What is written of predictions.
struct TableOptions {
  TableFormat format = TableFormat::kCsv;
  int top = 5;             // classes of an image, by their probabilities
  double threshold = 0.5;  // of nets of several labels: an image has the classes above it
  std::filesystem::path sort_into{};  // hard links by class; empty: none
};

// Who does it.
struct PredictWork {
  int threads = 0;     // cores of a rank; 0: all it may use
  bool alone = false;  // no other process works in `out`, and no lock is taken
  bool mixed_machines = false;
};

struct PredictRequest {
  NetOptions net;
  InputOptions inputs;
  std::filesystem::path out;
  std::optional<WindowOptions> windows{};  // none: each image is shown whole
  TableOptions table;
  std::string backend = "onednn";
  train::DType dtype = train::DType::kF32;
  PredictWork work;
};

// A picture that a page shows.
struct Example {
  std::uint64_t at = 0;  // in the inputs
  std::string name;
  float probability = 0;
  friend bool operator==(const Example&, const Example&) = default;
};

struct ClassSummary {
  std::uint64_t images = 0;           // that are of it
  std::vector<Example> surest{};      // of these, the largest probability first
  std::vector<Example> least_sure{};  // the smallest first
};

// What came of it. The same for any workers.
struct PredictReport {
  std::uint64_t images = 0;
  pipeline::FateCounts by_fate{};  // add up to images
  std::vector<std::string> classes;
  std::vector<ClassSummary> by_class;  // of these
  std::uint64_t without_class = 0;     // of several labels: images above no threshold
  std::uint64_t dimensions = 0;        // of features
  std::uint64_t windows = 0;           // of all images together
  std::uint64_t flat_windows = 0;      // of these, left out
  std::uint64_t boxes = 0;
  std::uint64_t map_bytes = 0;        // of all maps' files
  std::vector<std::string> files;     // that were written in `out`
  std::vector<std::string> machines;  // kinds that worked on it, in words
  // Of this call.
  bool was_there = false;            // all was there already
  std::uint64_t predicted_here = 0;  // images, or windows
  double seconds = 0;
};

// Predicts the classes of all pictures, and writes tables of them into the folder `out`.
//
// Out         predictions.csv, .jsonl or .npy; ledger.jsonl, as a cache has it, with every input;
//             classes.json; features.npy and names.txt where they are asked for. With windows maps/
//             and boxes.csv.
// Resume      The same call goes on after anything that ended it. Another run, source, flag or
//             build is refused.
// Workers     Any number of processes may call it on one folder: work is cut into tasks by the
//             listing alone, each done once, with locks that die with their process. Ranks of a
//             communicator deal tasks by number, without locks.
// Same bytes  of all files, for any workers of one kind of machine.
// Throws      UsageError: what makes no sense, a folder of something else, a source that changed.
//             RefusedError: no picture was readable. StoppedError. SystemError: a full disk, a file
//             system without locks.
PredictReport predict(const PredictRequest& request, Session& session);

// How far the work in a folder is.
struct PredictStatus {
  std::uint64_t tasks = 0;
  std::uint64_t done = 0;
  bool finished = false;
  std::vector<std::string> workers;      // "host, process 4711": who holds tasks
  std::optional<double> seconds_left{};  // a guess, of the time that the tasks done took
};
PredictStatus predict_status(const std::filesystem::path& out);

// Predictions as arrays: what predict() writes, of the same computation, in memory.
struct Predictions {
  std::vector<ImageResult> results;  // in the order of the inputs
  std::vector<std::string> classes;
};
Predictions predict_arrays(Net& net, const Inputs& inputs, const PredictRequest& request,
                           Session& session);

}  // namespace winnow::app
