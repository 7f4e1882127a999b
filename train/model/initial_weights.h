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

// A rule for learning-rate multipliers: tensors whose name matches `pattern` get `factor`. Example:
// "layer1.*", 0.1.
//
// Pattern  As in fnmatch(3): * stands for any characters, ? for one, [a-c] for one of these.
// Zero     A factor of 0 freezes a tensor: parameters are not moved by gradient, weight decay or
//          momentum, and running statistics stay.
// Several  The last rule that matches applies.
struct LrScale {
  std::string pattern;
  double factor = 1;
};

// Sets which parameters get weight decay and LARS scaling: those whose name matches none of
// `patterns`.
// Throws  UsageError for a pattern that matches no parameter.
void apply_no_decay(Model& model, const std::vector<std::string>& patterns);

struct StartOptions {
  // Safetensors file of initial weights, with torchvision's tensor names; empty: random initial
  // values from the seed.
  std::filesystem::path init_from;
  std::vector<LrScale> lr_scales;
  // Name patterns of parameters without weight decay, see apply_no_decay(). nullopt: biases and
  // batch norm have none, see Value::decay.
  std::optional<std::vector<std::string>> no_decay;
};

// Sets the learning-rate multiplier Model::Tensor::lr_scale of each tensor. Running statistics have
// no learning rate; they get 0 (frozen) or 1.
// Throws  UsageError, naming the rule, if it matches nothing or its factor is negative or NaN; and
//         if nothing is left to train.
void apply_lr_scales(Model& model, const std::vector<LrScale>& rules);

// Returns the names of the tensors with lr_scale 0, as freeze() takes them.
std::vector<std::string> frozen_tensors(const Model& model);

struct InitialWeights {
  // Tensors of the model that were not in the file and keep their initial values.
  std::vector<std::string> kept;
  // Why the file's classifier was not used, if it is for other classes: "for other classes, as
  // 'cat', which ...". Empty otherwise. The number of classes may still be equal.
  std::string other{};
  // The file's classifier is used, although the file does not name its classes.
  bool unnamed = false;
  std::vector<std::string> ignored;  // tensors of the file that the net does not have
};

// Overwrites `model` with the tensors of a safetensors file that has torchvision's tensor names, in
// any order and any floating-point type.
//
// Classifier  The parameters of the last fully connected layer, with a projector if there is one.
//             They keep their initial values if those in the file have another shape, or are for
//             other classes: model.classes and the file both name classes, and either lacks one of
//             them.
// Order       Classes in another order are reordered to that of model.classes. If the file names no
//             classes, its order is kept.
// Projector   May be missing in the file, as for nets that were trained with labels.
// Heads       Local heads (auxiliary classifiers) always keep their initial values.
// Prefixes    All names may begin with module., _orig_mod. or model., as for nets that PyTorch
//             wraps.
// Silent      num_batches_tracked, which every such file has, is not reported as ignored.
// Errors      UsageError, naming the first tensor that is missing or has another shape; or if the
//             classes differ and the net has no classifier that could be reset or reordered.
//             FormatError for a damaged file, or a number that is not finite. After an error the
//             model is unchanged.
InitialWeights load_initial_weights(Model& model, const Graph& graph,
                                    const std::filesystem::path& file);

// Returns a run's tensors with their training settings (multipliers, weight decay), but without
// numbers. Collective.
Model outline_model(const Graph& graph, const StartOptions& options, comm::Communicator& comm);

// Fills a model from outline_model() with the numbers that a run starts with. The classifier is for
// model.classes.
// Ranks  Collective. Rank 0 reads options.init_from, and reports by `note` what it did not use. The
//        other ranks, which may have a part of the net, have random initial values from the seed
//        until NetTensors::hand_out() gives them those of rank 0.
void begin_model(Model& model, const Graph& graph, std::uint64_t seed, const StartOptions& options,
                 comm::Communicator& comm, const std::function<void(std::string)>& note);

// Returns the XXH3-128, in hex, of a file, on every rank; empty for an empty path. Rank 0 reads it.
// Collective.
std::string digest_of_weights(const std::filesystem::path& file, comm::Communicator& comm);

}  // namespace winnow::train
