#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::train {

// Chooses kernels for the layers under a memory limit (Zou et al. 2017, arXiv 1709.06622). Pure
// functions.

// A kernel that can compute a layer's pass.
struct Candidate {
  std::string name{};  // the library's name of the kernel, as in KernelChoices
  double seconds = 0;
  std::size_t scratch_bytes = 0;
};

// The kernels that can compute one pass of one layer; at least one.
using Candidates = std::vector<Candidate>;

struct Algorithms {
  std::vector<std::size_t> chosen{};  // for each layer, the index of the chosen candidate
  double seconds = 0;                 // sum over all layers
  std::size_t scratch_bytes = 0;      // total scratch memory of the choice
};

// Chooses kernels for one scratch area that all layers share, as in winnow's programs: for each
// layer the fastest candidate that fits into `bytes`; among equally fast ones, the one with the
// least memory.
// Out  nullopt if a layer has no candidate that fits.
std::optional<Algorithms> choose_with_shared_scratch(std::span<const Candidates> layers,
                                                     std::size_t bytes);

// Chooses kernels for a separate scratch area for each layer, as in captured CUDA graphs: the
// fastest choice whose areas together fit into `bytes`. Exact, by branch and bound with the linear
// relaxation.
// Out  nullopt if not even the smallest areas fit.
std::optional<Algorithms> choose_with_own_scratch(std::span<const Candidates> layers,
                                                  std::size_t bytes);

// Measurements of one kernel of a layer.
struct KernelTimes {
  std::string name{};
  // Durations of this kernel in one node of the graph, measured by turns with the layer's other
  // kernels; at least one.
  std::vector<double> seconds{};
  std::size_t scratch_bytes = 0;
};

struct LayerTimes {
  std::string layer{};  // name of the layer in KernelChoices
  int nodes = 1;        // number of the graph's nodes that compute this layer
  // Kernels of the layer; the first is the library's own choice; at least one.
  std::vector<KernelTimes> kernels{};
};

// A choice of kernels, compared with the library's own.
struct KernelPlan {
  // The choices that differ from the library's, as KernelChoices.
  std::map<std::string, std::string> kernels{};
  double seconds = 0;  // seconds of a micro-batch over all layers, by medians of the measured times
  double own_seconds = 0;         // seconds over all layers with the library's own choice
  std::size_t scratch_bytes = 0;  // scratch memory, which all layers share
  std::size_t own_scratch_bytes = 0;
};

// Chooses kernels by measured times: for each layer the fastest whose scratch memory fits into
// `bytes`, which all layers share.
// Own  A layer keeps the library's own choice, if that fits, unless another kernel is clearly
//      faster: by more than a twentieth in the median, and each of its times below the median of
//      the library's choice.
// Out  nullopt: some layer has no kernel that fits.
std::optional<KernelPlan> choose_kernels(std::span<const LayerTimes> layers, std::size_t bytes);

}  // namespace winnow::train
