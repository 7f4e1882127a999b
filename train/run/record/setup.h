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

// A net and the shape of its images. Stored in RUN/config.json: a run can be evaluated without the
// options it was started with.
struct NetSetup {
  NetChoice net;
  NetOptions options;
  LocalSetup local{};
};

// Throws UsageError where the cache has no classes, for losses that read labels.
void require_classes(const DataOptions& options, const pipeline::DatasetInfo& info);

// Fits a net to the data: its channels, classes and side, which `data` may say, and its
// micro-batch. Throws UsageError when they do not go together.
NetSetup fit_net(const NetChoice& net, const LossOptions& loss, const BatchOptions& batch,
                 const DataOptions& data, const pipeline::DatasetInfo& info);

pipeline::Geometry geometry_of(const NetSetup& setup);
pipeline::Levels levels_of(const NetSetup& setup);

// The augmentation recipe for training images of this cache. Where options give none: kCifar, or
// kNone where the images are stored in variants made by a recipe.
pipeline::Recipe recipe_of(const DataOptions& options, const pipeline::DatasetInfo& info);

// The shorter side that images are resized to before their centre is cut for evaluation, up to
// kMostResizePx. 0: the side of the cut. Where options give none: 8/7 of the cut (torchvision's 256
// for 224) if training sees crops of random size and images are larger, else 0. Throws UsageError
// for less than the cut.
inline constexpr int kMostResizePx = 2 * kMostSidePx;
int eval_resize_of(const DataOptions& options, const pipeline::DatasetInfo& info,
                   const NetSetup& setup);
// The recipe for images in evaluation.
pipeline::Recipe eval_recipe(int eval_resize_px);

// How many views of each image the net is shown at once: a micro-batch of it has so many images
// for each sample.
int views_of(const NetSetup& setup);

// The forward graph, fused, of views_of() images for each sample of a micro-batch.
Graph forward_graph(const NetSetup& setup);

// The same with the heads that its stages learn by: what is trained.
Graph trained_graph(const NetSetup& setup);

// What a run is made of, XXH3-128 in hex.
struct RunDigests {
  std::string cache;      // of the manifest
  std::string by_names;   // see pipeline::digest_by_names(); empty: the loss reads no labels
  std::string selection;  // empty: none
  std::string init_from;  // likewise
};

// The text of RUN/config.json: everything that decides the numbers of a run. Compared between ranks
// and on resume.
std::string config_text(const TrainOptions& options, const NetSetup& setup,
                        const pipeline::DatasetInfo& info, const RunDigests& digests);

struct StoredConfig {
  NetSetup setup;
  std::string cache_digest;
  std::string selection;
  std::string selection_digest;
  double holdout = 0;  // as DataOptions has it
  int eval_resize_px = 0;
  std::string own_recipe;  // as RecipeOptions::own
  // As Model::classes; none in runs of older versions, and of losses that read no labels.
  std::vector<std::string> classes;
  std::string digest_by_names;  // likewise
};
StoredConfig parse_config(const std::string& text, const std::string& where);  // FormatError

}  // namespace winnow::train
