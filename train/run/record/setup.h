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

// A net and the shape of its input images. Stored in RUN/config.json, so that a run can be
// evaluated without repeating its options.
struct NetSetup {
  NetChoice net;
  NetOptions options;
  LocalSetup local{};
};

// Throws UsageError if the loss reads labels and the cache has no classes.
void require_classes(const DataOptions& options, const pipeline::DatasetInfo& info);

// Fits a net to the data: number of channels and classes, image side (which `data` may give), and
// micro-batch.
// Throws  UsageError if they are incompatible.
NetSetup fit_net(const NetChoice& net, const LossOptions& loss, const BatchOptions& batch,
                 const DataOptions& data, const pipeline::DatasetInfo& info);

pipeline::Geometry geometry_of(const NetSetup& setup);
pipeline::Levels levels_of(const NetSetup& setup);

// Returns the augmentation recipe for training images of this cache. If `options` give none: crops
// and mirror images as for CIFAR (kCifar); or kNone if the stored images are already augmented
// variants.
pipeline::Recipe recipe_of(const DataOptions& options, const pipeline::DatasetInfo& info);

// Returns the shorter side, in pixels, to which images are resized before the centre crop of
// evaluation; at most kMostResizePx. 0: the side of the crop.
// Default  8/7 of the crop (torchvision's 256 for 224) if training uses crops of random size and
//          images are larger; else 0.
// Throws   UsageError if the side that `options` give is smaller than the crop.
inline constexpr int kMostResizePx = 2 * kMostSidePx;
int eval_resize_of(const DataOptions& options, const pipeline::DatasetInfo& info,
                   const NetSetup& setup);
// Returns the preparation of images for evaluation: resize the shorter side to `eval_resize_px`,
// see eval_resize_of(), and take the centre crop.
pipeline::Recipe eval_recipe(int eval_resize_px);

// Number of augmented views of each sample that the net sees at once. A micro-batch of m samples
// has m times as many images.
int views_of(const NetSetup& setup);

// Returns the net's forward graph with fused nodes, for micro-batches with views_of() images of
// each sample.
Graph forward_graph(const NetSetup& setup);

// Returns the graph to train: forward_graph(), with the local heads (auxiliary classifiers) of its
// stages.
Graph trained_graph(const NetSetup& setup);

// Digests of a run's inputs, XXH3-128 in hex.
struct RunDigests {
  std::string cache;  // digest of the cache's manifest
  // Digest of images and labels, pipeline::digest_by_names(); empty: the loss reads no labels.
  std::string by_names;
  std::string selection;  // digest of the selection; empty: none
  std::string init_from;  // digest of the file of initial weights; empty: none
};

// Returns the text of RUN/config.json: everything that determines the numbers of a run. It is
// compared between ranks, and when a run is resumed.
std::string config_text(const TrainOptions& options, const NetSetup& setup,
                        const pipeline::DatasetInfo& info, const RunDigests& digests);

struct StoredConfig {
  NetSetup setup;
  std::string cache_digest;
  std::string selection;
  std::string selection_digest;
  double holdout = 0;  // share of the training samples that were set aside, as in DataOptions
  int eval_resize_px = 0;
  std::string own_recipe;  // name of the net's own training recipe, as in RecipeOptions::own
  // Class names, as Model::classes. Empty for runs of older versions, and for losses that read no
  // labels.
  std::vector<std::string> classes;
  // Digest of images and labels, pipeline::digest_by_names(); empty if `classes` is.
  std::string digest_by_names;
};
// Parses the text of RUN/config.json. Throws FormatError, which names `where`.
StoredConfig parse_config(const std::string& text, const std::string& where);

}  // namespace winnow::train
