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
  pipeline::SampleSet samples;   // samples of the split; empty if the cache has no such split
  std::vector<SampleId> leaked;  // samples with a duplicate in training, ascending
  // Labels of `samples`, if an image may have several (several_labels()); else nullopt.
  std::optional<pipeline::SampleLabels> several_labels{};
};

// The samples of a job: for training, in the order of the stream, and for evaluation.
struct JobData {
  pipeline::Source source;
  std::filesystem::path folder;  // the cache's folder
  std::string selection;         // name of the selection; empty: all samples
  pipeline::DatasetInfo info;    // description of the cache, with classes in the order of the run
  // For each label of the cache, the label in the run (run_order.h). Empty: they are equal.
  std::vector<std::int32_t> label_of{};
  std::shared_ptr<const pipeline::Sampler> sampler;  // draws the training samples
  // How well a partial shuffle mixes; only for a partial shuffle, on rank 0.
  std::optional<pipeline::ShuffleQuality> shuffle_quality;
  std::map<Split, EvaluationSet> evaluation_sets;  // samples of kVal and kTest
};

// Everything about a training job that is decided before anything is compiled. Later, only records
// of already open shards are read from the cache, so a job never sees a cache that was replaced
// meanwhile.
struct Job {
  JobData data;
  NetSetup setup;
  RecipeOptions recipe;
  Graph forward;
  bool sync_bn = false;  // batch norms use the whole batch in training
  BatchLayout batches;
  RankStages ranks;          // how the ranks are divided among the stages of a pipeline
  pipeline::Recipe augment;  // recipe for training images, see recipe_of()
  // Shorter side before the crop of evaluation, in pixels, see eval_resize_of().
  int eval_resize_px = 0;
  std::string tta;     // name of the test-time augmentation; empty: none
  std::string config;  // text of config.json
};

// Fills in everything that options and data determine: net, recipes and forward graph, but not the
// batches. `job.data` must be complete.
// Throws  UsageError.
void take_net(const TrainOptions& options, Job& job);

// Opens the cache, looks up samples, fits the net. Collective.
//
// Throws  UsageError: options that do not fit the data, the backend or each other. Error: ranks
//         differ in program, options, cache or instruction set.
Job open_job(const TrainOptions& options, const Backend& backend, comm::Communicator& comm);

// Returns user-facing notes about the job's data, for before it starts. Complete on rank 0 only.
std::vector<std::string> notes_on_data(const Job& job);

}  // namespace winnow::train
