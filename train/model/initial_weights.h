#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/comm/communicator.h"
#include "train/graph/graph.h"
#include "train/model/model.h"

namespace winnow::train {

// Learning-rate multiplier for tensors whose name matches `pattern`: "layer1.*", 0.1.
//
// Pattern  As in fnmatch(3): * stands for any characters, ? for one, [a-c] for one of these.
// Zero     A factor of 0 freezes: parameters are not moved by gradient, weight decay or momentum,
//          and running statistics stay.
// Several  The last matching rule applies.
struct LrScale {
  std::string pattern;
  double factor = 1;
};

// Sets which parameters get weight decay and LARS scaling: all whose name matches none of
// `patterns`. Throws UsageError for a pattern that matches no parameter.
void apply_no_decay(Model& model, const std::vector<std::string>& patterns);

struct StartOptions {
  // safetensors with torchvision's names; empty: initial values of the seed
  std::filesystem::path init_from;
  std::vector<LrScale> lr_scales;
  // For apply_no_decay(). nullopt: excludes biases and batch norm, see Value::decay.
  std::optional<std::vector<std::string>> no_decay;
};

// Sets Model::Tensor::lr_scale. Running statistics get 0 or 1, because they have no learning rate.
// Throws UsageError, naming the rule, if it matches nothing or its factor is negative or NaN; and
// if nothing is left to train.
void apply_lr_scales(Model& model, const std::vector<LrScale>& rules);

// Names of the tensors whose lr_scale is 0, for freeze().
std::vector<std::string> frozen_tensors(const Model& model);

struct InitialWeights {
  std::vector<std::string> kept;  // tensors of the model that keep their initial values
  // Set if the file's classifier is for other classes: "for other classes, as 'cat', which ...".
  // The number of classes may still be equal.
  std::string other{};
  bool unnamed = false;  // the file does not name its classes, and its classifier is used
  std::vector<std::string> ignored;  // tensors of the file that the net does not have
};

// Overwrites `model` with the tensors of a safetensors file that has torchvision's names, in any
// order and any floating-point type.
//
// Classifier  The parameters of the last fully connected layer, with a projector if there is one.
//             It keeps its initial values if it has another shape in the file, or if model.classes
//             and the file both name classes and either lacks one of them: it is for other classes.
// Order       Classes in another order are reordered to that of model.classes. A file without names
//             is used as it is.
// Projector   Missing in files of nets that were trained with labels.
// Heads       Local heads always keep their initial values.
// Prefixes    All names may begin with module., _orig_mod. or model., as for nets that PyTorch
//             wraps.
// Silent      num_batches_tracked, which every such file has, is not reported as ignored.
// Errors      UsageError naming the first tensor that is missing or has another shape; or if the
//             classes differ and the net has no classifier that could start anew or be reordered.
//             FormatError for a damaged file, or a number that is not finite. After an error the
//             model is unchanged.
InitialWeights load_initial_weights(Model& model, const Graph& graph,
                                    const std::filesystem::path& file);

// A run's tensors with their training settings, but without numbers. Collective.
Model outline_model(const Graph& graph, const StartOptions& options, comm::Communicator& comm);

// Fills an outline with the numbers that a run starts with. Its classifier is for model.classes.
// Ranks  Collective. Rank 0 reads options.init_from and reports by `note` what it did not use. The
//        other ranks have the values of the seed until RunDirectory::restore_newest_checkpoint()
//        gives them those of rank 0.
void begin_model(Model& model, const Graph& graph, std::uint64_t seed, const StartOptions& options,
                 comm::Communicator& comm, const std::function<void(std::string)>& note);

// XXH3-128 in hex of the file as rank 0 reads it, on every rank; empty for an empty path.
// Collective.
std::string digest_of_weights(const std::filesystem::path& file, comm::Communicator& comm);

}  // namespace winnow::train
