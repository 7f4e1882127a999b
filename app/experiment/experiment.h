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

// How an experiment begins and ends, whatever its axes and its verdicts are.
namespace winnow::app {

// The request that all experiments share.
struct ExperimentRequest {
  std::filesystem::path out;   // its folder: runs, results, tables, page.html
  int lanes = 1;               // runs at the same time
  int threads = 0;             // cores of all lanes together; 0: this process's share
  double margin_points = 0.5;  // of accuracy, that do not matter
  bool estimate = false;       // it is to say what it takes, and to train nothing
  bool json = false;
};

// Says what runs will take.
// Out     The object that --estimate prints; an experiment adds what it knows besides.
// Throws  UsageError: they do not fit, as check_memory() and check_disk().
Json tell_cost(const ExperimentRequest& asked, std::string_view schema, const Foretold& foretold,
               const Session& session);

// Writes tables and the page into the folder of the experiment: names and texts.
using ExperimentFiles = std::vector<std::pair<std::string, std::string>>;
void write_files(const ExperimentRequest& asked, const ExperimentFiles& files);

// Says where page and table are, and prints `json` where that is asked for.
void tell_files(const ExperimentRequest& asked, const std::string& json, const Session& session);

}  // namespace winnow::app
