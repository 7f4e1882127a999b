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

// Options for the table of predictions.
struct TableOptions {
  TableFormat format = TableFormat::kCsv;
  int top = 5;  // number of classes listed per image, most probable first
  // Probability above which an image has a class, for nets with several labels per image.
  double threshold = 0.5;
  // Folder for hard links to the images, by predicted class; empty: none.
  std::filesystem::path sort_into{};
};

// Options for the processes that share the work.
struct PredictWork {
  int threads = 0;     // cores of each rank; 0: all available cores
  bool alone = false;  // no other process works in `out`, so that no lock is taken
  bool mixed_machines = false;
};

struct PredictRequest {
  NetOptions net;
  InputOptions inputs;
  std::filesystem::path out;
  // Windows for large pictures; nullopt: the net sees each image whole.
  std::optional<WindowOptions> windows{};
  TableOptions table;
  std::string backend = "onednn";
  train::DType dtype = train::DType::kF32;
  PredictWork work;
};

// An example picture that the page shows.
struct Example {
  std::uint64_t at = 0;  // index of the picture among the inputs
  std::string name;
  float probability = 0;
  friend bool operator==(const Example&, const Example&) = default;
};

struct ClassSummary {
  std::uint64_t images = 0;  // number of images predicted as this class
  // The class's images that were predicted with the highest probability, highest first.
  std::vector<Example> surest{};
  // The class's images that were predicted with the lowest probability, lowest first.
  std::vector<Example> least_sure{};
};

// Results of a prediction. They do not depend on which processes did the work.
struct PredictReport {
  std::uint64_t images = 0;
  pipeline::FateCounts by_fate{};  // images by outcome in the ledger; sums to `images`
  std::vector<std::string> classes;
  std::vector<ClassSummary> by_class;  // summary of each class, over readable images
  // Images below the threshold for all classes, if several labels per image are possible.
  std::uint64_t without_class = 0;
  std::uint64_t dimensions = 0;  // length of a feature vector; 0: no features
  std::uint64_t windows = 0;     // number of windows, over all images
  // Number of windows that were skipped because they are of one colour.
  std::uint64_t flat_windows = 0;
  std::uint64_t boxes = 0;
  std::uint64_t map_bytes = 0;        // size of all map files in bytes
  std::vector<std::string> files;     // names of the files written in `out`
  std::vector<std::string> machines;  // kinds of machines that worked on it, in words
  // The following fields are about this call only.
  bool was_there = false;            // all results existed before this call
  std::uint64_t predicted_here = 0;  // number of images, or windows, predicted by this call
  double seconds = 0;
};

// Predicts the classes of all pictures, and writes tables into the folder `out`.
//
// Out         predictions.csv, .jsonl or .npy; classes.json; ledger.jsonl with every input, as in a
//             cache. If asked for, features.npy and names.txt. With windows also maps/ and
//             boxes.csv.
// Resume      The same call resumes after any interruption. Another net, source, option or build is
//             refused.
// Workers     Any number of processes may work in one folder. Inputs are divided into tasks by the
//             listing alone; each task is done once, under a lock that ends with its process. Ranks
//             of one communicator share tasks by number, without locks.
// Same bytes  in all files for any number of workers, on machines of one kind.
// Throws      UsageError: bad options, a folder with other content, a source that changed.
//             RefusedError: no picture was readable. StoppedError. SystemError: disk full, or a
//             file system without locks.
PredictReport predict(const PredictRequest& request, Session& session);

// Progress of the prediction in a folder.
struct PredictStatus {
  std::uint64_t tasks = 0;
  std::uint64_t done = 0;
  bool finished = false;
  std::vector<std::string> workers;      // processes that hold a task, "host, process 4711"
  std::optional<double> seconds_left{};  // estimate from the duration of finished tasks
};
PredictStatus predict_status(const std::filesystem::path& out);

// Predictions that are kept in memory, computed as by predict().
struct Predictions {
  std::vector<ImageResult> results;  // results in the order of the inputs
  std::vector<std::string> classes;
};
Predictions predict_arrays(Net& net, const Inputs& inputs, const PredictRequest& request,
                           Session& session);

}  // namespace winnow::app
