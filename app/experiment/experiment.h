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

// Begin and end of every experiment, whatever it varies and measures.
namespace winnow::app {

// Options that all experiments share.
struct ExperimentRequest {
  std::filesystem::path out;   // folder for runs, results, tables, page.html
  int lanes = 1;               // runs at the same time
  int threads = 0;             // cores of all these runs together; 0: all of this process
  double margin_points = 0.5;  // largest accuracy loss that does not matter, in points
  bool estimate = false;       // print the estimated cost and train nothing
  bool json = false;
};

// Prints what the runs will cost.
// Out     The object that --estimate prints. An experiment adds fields of its own.
// Throws  UsageError: memory or disk do not suffice (check_memory(), check_disk()).
Json tell_cost(const ExperimentRequest& asked, std::string_view schema, const CostEstimate& cost,
               const Session& session);

// Writes tables and page into the folder of the experiment, as pairs of name and text.
using ExperimentFiles = std::vector<std::pair<std::string, std::string>>;
void write_files(const ExperimentRequest& asked, const ExperimentFiles& files);

// Says where page and table are. Prints `json` if asked for.
void tell_files(const ExperimentRequest& asked, const std::string& json, const Session& session);

}  // namespace winnow::app
