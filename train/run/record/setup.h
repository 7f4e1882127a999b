#pragma once

#include <memory>
#include <string>

#include "pipeline/load/dataset.h"
#include "pipeline/load/loader.h"
#include "train/model/model.h"
#include "train/nets/net_file.h"
#include "train/nets/nets.h"
#include "train/run/options.h"

namespace winnow::train {

// A net and the shape of its images. Stored in RUN/config.json, so that a run can be evaluated
// without the options it was started with.
struct NetSetup {
  NetChoice net;
  NetOptions options;
  LocalSetup local{};
};

// Throws UsageError if the loss reads labels but the cache has no classes.
void require_classes(const DataOptions& options, const pipeline::DatasetInfo& info);

// Fits a net to the data: channels, classes, image side (which `data` may specify), and
// micro-batch. Throws UsageError if they are incompatible.
NetSetup fit_net(const NetChoice& net, const LossOptions& loss, const BatchOptions& batch,
                 const DataOptions& data, const pipeline::DatasetInfo& info);

pipeline::Geometry geometry_of(const NetSetup& setup);
pipeline::Levels levels_of(const NetSetup& setup);

// The augmentation recipe for training images of this cache. Without one in the options: kCifar; or
// kNone if the stored images are variants made by a recipe.
pipeline::Recipe recipe_of(const DataOptions& options, const pipeline::DatasetInfo& info);

// The shorter side to which images are resized before the centre crop of evaluation, at most
// kMostResizePx. 0: the side of the crop.
// Default  8/7 of the crop (torchvision's 256 for 224) if training uses crops of random size and
//          images are larger; else 0.
// Throws   UsageError for less than the crop.
inline constexpr int kMostResizePx = 2 * kMostSidePx;
int eval_resize_of(const DataOptions& options, const pipeline::DatasetInfo& info,
                   const NetSetup& setup);
// The recipe for images in evaluation.
pipeline::Recipe eval_recipe(int eval_resize_px);

// Number of views of each image that the net sees at once. A micro-batch has this many images for
// each sample.
int views_of(const NetSetup& setup);

// The forward graph, fused, for views_of() images of each sample in a micro-batch.
Graph forward_graph(const NetSetup& setup);

// forward_graph() with the local heads of its stages: the graph to train.
Graph trained_graph(const NetSetup& setup);

// Digests of a run's inputs, XXH3-128 in hex.
struct RunDigests {
  std::string cache;      // digest of its manifest
  std::string by_names;   // see pipeline::digest_by_names(); empty: the loss reads no labels
  std::string selection;  // empty: none
  std::string init_from;  // empty: none
};

// The text of RUN/config.json: everything that determines the numbers of a run. Compared between
// ranks and on resume.
std::string config_text(const TrainOptions& options, const NetSetup& setup,
                        const pipeline::DatasetInfo& info, const RunDigests& digests);

struct StoredConfig {
  NetSetup setup;
  std::string cache_digest;
  std::string selection;
  std::string selection_digest;
  double holdout = 0;  // as in DataOptions
  int eval_resize_px = 0;
  std::string own_recipe;  // as RecipeOptions::own
  // As Model::classes. Empty for runs of older versions, and for losses that read no labels.
  std::vector<std::string> classes;
  std::string digest_by_names;  // empty in the same cases
};
StoredConfig parse_config(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::train
