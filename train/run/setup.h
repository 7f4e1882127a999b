#pragma once

#include <map>
#include <memory>
#include <string>

#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "train/nets/nets.h"
#include "train/model/model.h"
#include "train/run/train.h"

namespace winnow::train {

// Which net, on images of which shape: what RUN/config.json holds of it, so that a run can be
// evaluated without the options it was started with.
struct NetSetup {
  std::string net;
  NetOptions options;
};

// Fits the net named in `options` to the data. Throws UsageError when they do not go together.
NetSetup fit_net(const TrainOptions& options, const pipeline::DatasetInfo& info);

pipeline::Geometry geometry_of(const NetSetup& setup);
pipeline::Levels levels_of(const NetSetup& setup);

// That training images are augmented with, as they come from the cache.
pipeline::Recipe recipe_of(const DataOptions& options, const pipeline::DatasetInfo& info);

// The shorter side that pictures are resized to before the centre is cut for evaluation; 0: that of
// what is cut. Where nothing is said, 8/7 of that (torchvision's 256 for 224) if training sees
// crops of random size and pictures are larger. UsageError for less than what is cut.
int eval_resize_of(const DataOptions& options, const pipeline::DatasetInfo& info,
                   const NetSetup& setup);
// What pictures go through for evaluation.
pipeline::Recipe eval_recipe(int eval_resize_px);

// The forward graph, fused.
Graph forward_graph(const NetSetup& setup);

// Everything that shapes the numbers of a run, as JSON: stored in RUN/config.json, compared between
// ranks and on resume.
std::string config_text(const TrainOptions& options, const NetSetup& setup,
                        const pipeline::DatasetInfo& info, const std::string& selection_digest,
                        const std::string& init_from_digest);

// Its entries by path, "data.cache_digest", so that differences can be named.
std::map<std::string, std::string> config_facts(const std::string& text);

struct StoredConfig {
  NetSetup setup;
  std::string cache_digest;
  std::string selection;
  std::string selection_digest;
  int eval_resize_px = 0;
};
StoredConfig parse_config(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::train
