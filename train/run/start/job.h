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
#include "train/run/options.h"
#include "train/run/record/setup.h"

namespace winnow::train {

class Backend;

struct EvaluationSet {
  pipeline::SampleSet samples;   // none where the cache has no such split
  std::vector<SampleId> leaked;  // ascending
  // Of the samples, see several_labels().
  std::optional<pipeline::SampleLabels> several_labels{};
};

// The samples of a job: to train on, in their order, and to evaluate on.
struct JobData {
  pipeline::Source source;
  std::filesystem::path folder;  // of the cache
  std::string selection;         // its name; empty: everything
  pipeline::DatasetInfo info;    // with classes in the order of the run
  // Of each label of the cache the run's, see run_order.h; empty: they are the same.
  std::vector<std::int32_t> label_of{};
  std::shared_ptr<const pipeline::Sampler> sampler;         // of the training samples
  std::optional<pipeline::ShuffleQuality> shuffle_quality;  // of a partial shuffle; rank 0
  std::map<Split, EvaluationSet> evaluation_sets;           // of kVal and kTest
};

// Everything about a training job that is decided before anything is compiled. Afterwards nothing
// is read from the cache but records of shards that are open already: one job sees one cache.
struct Job {
  JobData data;
  NetSetup setup;
  RecipeOptions recipe;
  Graph forward;
  bool sync_bn = false;  // its batch norms are over the whole batch in training
  BatchLayout batches;
  pipeline::Recipe augment;  // of training images, see recipe_of()
  int eval_resize_px = 0;    // see eval_resize_of()
  std::string tta;           // test-time augmentation; empty: none
  std::string config;        // text of config.json
};

// Puts into a job, whose data are known, the net and what else is decided by the options and the
// data alone: all but the batches. Throws UsageError.
void take_net(const TrainOptions& options, Job& job);

// Opens the cache, looks samples up, fits the net. Collective.
//
// Throws   UsageError: options that do not fit the data, the backend or each other.
//          Error: ranks differ in program, options, cache or instruction set.
Job open_job(const TrainOptions& options, const Backend& backend, comm::Communicator& comm);

// What a person should know of the job's data before it begins. Rank 0's are complete.
std::vector<std::string> notes_on_data(const Job& job);

}  // namespace winnow::train
