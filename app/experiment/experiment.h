#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/experiment/sweep_cost.h"
#include "app/experiment/train_jobs.h"
#include "app/session.h"
#include "common/json.h"

// Begin and end of an experiment, which trains many runs: estimated cost, output files.
namespace winnow::app {

// Options that all experiments share.
struct ExperimentRequest {
  std::filesystem::path out;   // folder for runs, results, tables and page.html
  int lanes = 1;               // number of runs that are trained at the same time
  int threads = 0;             // cores of all these runs together; 0: all available cores
  double margin_points = 0.5;  // largest accuracy loss that does not matter, in percentage points
  bool estimate = false;       // only print the estimated cost, train nothing
  bool json = false;
};

// Prints the estimated cost of the runs.
// Out     the JSON object that --estimate prints; each experiment adds its own fields
// Throws  UsageError: not enough memory or disk space (check_memory(), check_disk())
Json tell_cost(const ExperimentRequest& asked, std::string_view schema, const CostEstimate& cost,
               const Session& session);

// Writes tables and page into the folder of the experiment. Each file is a pair of name and text.
using ExperimentFiles = std::vector<std::pair<std::string, std::string>>;
void write_files(const ExperimentRequest& asked, const ExperimentFiles& files);

// Tells the user where page and table are. Prints `json` if --json was given.
void tell_files(const ExperimentRequest& asked, const std::string& json, const Session& session);

}  // namespace winnow::app
