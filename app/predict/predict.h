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

// Format of the table of predictions.
struct TableOptions {
  TableFormat format = TableFormat::kCsv;
  int top = 5;  // classes of an image, by probability
  // for nets with several labels per image: an image has the classes above it
  double threshold = 0.5;
  std::filesystem::path sort_into{};  // folder for hard links by class; empty: none
};

// Who does the work.
struct PredictWork {
  int threads = 0;     // cores of a rank; 0: all available
  bool alone = false;  // no other process works in `out`, so no lock is taken
  bool mixed_machines = false;
};

struct PredictRequest {
  NetOptions net;
  InputOptions inputs;
  std::filesystem::path out;
  std::optional<WindowOptions> windows{};  // nullopt: each image is shown whole
  TableOptions table;
  std::string backend = "onednn";
  train::DType dtype = train::DType::kF32;
  PredictWork work;
};

// A picture on the page.
struct Example {
  std::uint64_t at = 0;  // place in the inputs
  std::string name;
  float probability = 0;
  friend bool operator==(const Example&, const Example&) = default;
};

struct ClassSummary {
  std::uint64_t images = 0;           // number with this class
  std::vector<Example> surest{};      // among these, largest probability first
  std::vector<Example> least_sure{};  // smallest first
};

// Results. They do not depend on who did the work.
struct PredictReport {
  std::uint64_t images = 0;
  pipeline::FateCounts by_fate{};  // sums to `images`
  std::vector<std::string> classes;
  std::vector<ClassSummary> by_class;  // for readable images
  std::uint64_t without_class = 0;     // with several labels per image: images below all thresholds
  std::uint64_t dimensions = 0;        // length of features
  std::uint64_t windows = 0;           // over all images
  std::uint64_t flat_windows = 0;      // windows that were skipped
  std::uint64_t boxes = 0;
  std::uint64_t map_bytes = 0;        // bytes of all map files
  std::vector<std::string> files;     // files written in `out`
  std::vector<std::string> machines;  // kinds that worked on it, in words
  // About this call only.
  bool was_there = false;            // everything existed already
  std::uint64_t predicted_here = 0;  // images, or windows
  double seconds = 0;
};

// Predicts the classes of all pictures, and writes tables into the folder `out`.
//
// Out         predictions.csv, .jsonl or .npy; ledger.jsonl with every input, as in a cache;
//             classes.json; features.npy and names.txt if asked for. With windows maps/ and
//             boxes.csv.
// Resume      The same call resumes after any interruption. Another run, source, flag or build is
//             refused.
// Workers     Any number of processes may call it on one folder: work is cut into tasks by the
//             listing alone. Each task is done once, under locks that end with their process. Ranks
//             of a communicator share tasks by number, without locks.
// Same bytes  of all files, for any workers on one kind of machine.
// Throws      UsageError: bad options, a folder of something else, a source that changed.
//             RefusedError: no picture was readable. StoppedError. SystemError: disk full, a file
//             system without locks.
PredictReport predict(const PredictRequest& request, Session& session);

// Progress of the work in a folder.
struct PredictStatus {
  std::uint64_t tasks = 0;
  std::uint64_t done = 0;
  bool finished = false;
  std::vector<std::string> workers;      // "host, process 4711": holders of tasks
  std::optional<double> seconds_left{};  // estimated from the duration of finished tasks
};
PredictStatus predict_status(const std::filesystem::path& out);

// Predictions in memory, computed as predict() does.
struct Predictions {
  std::vector<ImageResult> results;  // in the order of the inputs
  std::vector<std::string> classes;
};
Predictions predict_arrays(Net& net, const Inputs& inputs, const PredictRequest& request,
                           Session& session);

}  // namespace winnow::app
