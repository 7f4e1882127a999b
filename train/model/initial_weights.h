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

// How strongly tensors whose name matches `pattern` are trained: "layer1.*", 0.1. Patterns are
// those of fnmatch(3): * stands for any characters, ? for one, [a-c] for one of these. A factor of
// 0 freezes: neither gradient, weight decay nor momentum moves a parameter, and running statistics
// stay. Of several rules that match, the last holds.
struct LrScale {
  std::string pattern;
  double factor = 1;
};

// Sets which parameters take weight decay and LARS's scaling: all but those whose name matches one
// of `patterns`. UsageError for a pattern that matches no parameter, naming it.
void apply_no_decay(Model& model, const std::vector<std::string>& patterns);

struct StartOptions {
  std::filesystem::path init_from;  // safetensors, torchvision's names; empty: values of the seed
  std::vector<LrScale> lr_scales;
  // As apply_no_decay() takes them; nothing: biases and batch norm, see Value::decay.
  std::optional<std::vector<std::string>> no_decay;
};

// Sets Model::Tensor::lr_scale. Running statistics have 0 or 1, for they have no learning rate.
// Throws UsageError for a rule that matches nothing or whose factor is negative or no number,
// naming it, and when nothing is left to train.
void apply_lr_scales(Model& model, const std::vector<LrScale>& rules);

// The names of the tensors whose lr_scale is 0, for freeze().
std::vector<std::string> frozen_tensors(const Model& model);

struct InitialWeights {
  std::vector<std::string> kept;  // of the model, left at their initial values
  // What the file is for where its classes are others, though they may be as many: "for other
  // classes, as 'cat', which ...".
  std::string other{};
  bool unnamed = false;              // the file does not say what its classes are, and is taken
  std::vector<std::string> ignored;  // of the file, for the net has none of that name
};

// Overwrites `model` with the tensors of a safetensors file, torchvision's names, in any order and
// any of the floating-point types. Where the net's classifier (the parameters of its last fully
// connected layer) has another shape in the file, it keeps its initial values: it is for other
// classes. So it does where model.classes and the file have names and either lacks one of them;
// those in another order are brought into that of model.classes. A file without names is taken as
// it is. A projector belongs to the classifier, and is not in files of nets that learnt with
// labels. Local heads begin anew, whatever the file has of theirs. Names may all begin with
// module., _orig_mod. or model., as those of nets that PyTorch wraps. num_batches_tracked, which
// every such file has, is not mentioned. Throws UsageError naming the first tensor that is missing
// or has another shape, or where classes differ and the net has no classifier to begin anew or to
// bring into their order, FormatError for a damaged file or a number that is not finite; the model
// is then as before.
InitialWeights load_initial_weights(Model& model, const Graph& graph,
                                    const std::filesystem::path& file);

// A run's tensors, as they are trained, yet without numbers. Collective.
Model outline_model(const Graph& graph, const StartOptions& options, comm::Communicator& comm);

// Gives an outline the numbers that a run begins with, its classifier for model.classes.
// Collective: rank 0 reads options.init_from and tells by `note` what it left alone; the other
// ranks have the values of the seed until RunDirectory::restore_newest_checkpoint() gives them rank
// 0's.
void begin_model(Model& model, const Graph& graph, std::uint64_t seed, const StartOptions& options,
                 comm::Communicator& comm, const std::function<void(std::string)>& note);

// XXH3-128 of the file as rank 0 reads it, hex, on every rank; empty for an empty path. Collective.
std::string digest_of_weights(const std::filesystem::path& file, comm::Communicator& comm);

}  // namespace winnow::train
