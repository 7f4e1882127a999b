#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "common/sample.h"
#include "pipeline/load/dataset.h"
#include "pipeline/load/exchange.h"
#include "pipeline/load/sampler.h"
#include "pipeline/load/shuffle_quality.h"
#include "train/graph/graph.h"
#include "train/plan/batch_layout.h"
#include "train/plan/rank_stages.h"
#include "train/run/options.h"
#include "train/run/record/setup.h"

namespace winnow::train {

class Backend;

struct EvaluationSet {
  pipeline::SampleSet samples;   // empty if the cache has no such split
  std::vector<SampleId> leaked;  // ascending
  // For these samples, see several_labels().
  std::optional<pipeline::SampleLabels> several_labels{};
};

// The samples of a job: for training, in order, and for evaluation.
struct JobData {
  pipeline::Source source;
  std::filesystem::path folder;  // the cache's folder
  std::string selection;         // its name; empty: everything
  pipeline::DatasetInfo info;    // with classes in the order of the run
  // Maps labels of the cache to those of the run, see run_order.h; empty: they are equal.
  std::vector<std::int32_t> label_of{};
  std::shared_ptr<const pipeline::Sampler> sampler;         // draws the training samples
  std::optional<pipeline::ShuffleQuality> shuffle_quality;  // for a partial shuffle; on rank 0
  std::map<Split, EvaluationSet> evaluation_sets;           // for kVal and kTest
};

// Everything about a training job that is decided before anything is compiled. Later, only records
// of already open shards are read from the cache, so one job sees one cache.
struct Job {
  JobData data;
  NetSetup setup;
  RecipeOptions recipe;
  Graph forward;
  bool sync_bn = false;  // batch norms use the whole batch in training
  BatchLayout batches;
  RankStages ranks;          // the stages of the job's ranks
  pipeline::Recipe augment;  // for training images, see recipe_of()
  int eval_resize_px = 0;    // see eval_resize_of()
  std::string tta;           // test-time augmentation; empty: none
  std::string config;        // text of config.json
};

// Adds to a job, whose data are known, everything that options and data determine, except the
// batches: the net and more. Throws UsageError.
void take_net(const TrainOptions& options, Job& job);

// Opens the cache, looks up samples, fits the net. Collective.
//
// Throws  UsageError: options that do not fit the data, the backend or each other. Error: ranks
//         differ in program, options, cache or instruction set.
Job open_job(const TrainOptions& options, const Backend& backend, comm::Communicator& comm);

// Messages for the user about the job's data before it starts. Complete on rank 0.
std::vector<std::string> notes_on_data(const Job& job);

}  // namespace winnow::train
