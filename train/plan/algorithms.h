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
  std::string name{};  // the library's name, as in KernelChoices
  double seconds = 0;
  std::size_t scratch_bytes = 0;
};

// The candidates for one pass of one layer; at least one.
using Candidates = std::vector<Candidate>;

struct Algorithms {
  std::vector<std::size_t> chosen{};  // for each layer, the index of its candidate
  double seconds = 0;                 // over all layers
  std::size_t scratch_bytes = 0;      // total memory used
};

// For one scratch area that all layers share, as in winnow's programs: for each layer the fastest
// candidate that fits into `bytes`; among equally fast ones, that with the least memory.
// Out  nullopt if a layer has none that fits.
std::optional<Algorithms> choose_with_shared_scratch(std::span<const Candidates> layers,
                                                     std::size_t bytes);

// For a separate area for each layer, as in captured graphs: the fastest choice whose areas
// together fit into `bytes`. Exact, by branch and bound with the linear relaxation.
// Out  nullopt if not even the smallest areas fit.
std::optional<Algorithms> choose_with_own_scratch(std::span<const Candidates> layers,
                                                  std::size_t bytes);

// Measurements of one kernel of a layer.
struct KernelTimes {
  std::string name{};
  std::vector<double> seconds{};  // for one node, in turns with the others; at least one
  std::size_t scratch_bytes = 0;
};

struct LayerTimes {
  std::string layer{};                 // its name in KernelChoices
  int nodes = 1;                       // number of nodes of a micro-batch that it computes
  std::vector<KernelTimes> kernels{};  // the first is the library's own choice; at least one
};

// A choice of kernels, compared with the library's own.
struct KernelPlan {
  std::map<std::string, std::string> kernels{};  // KernelChoices that differ from the library's
  double seconds = 0;                            // over all layers, by medians
  double own_seconds = 0;                        // with the library's choice
  std::size_t scratch_bytes = 0;                 // shared by all layers
  std::size_t own_scratch_bytes = 0;
};

// Chooses kernels by measured times: for each layer the fastest whose scratch memory fits into
// `bytes`, which all layers share. A layer keeps the library's choice, if that fits, unless another
// kernel is faster: its median by more than a twentieth, and each of its times than the median of
// the library's.
// Out  nullopt: some layer has no kernel that fits.
std::optional<KernelPlan> choose_kernels(std::span<const LayerTimes> layers, std::size_t bytes);

}  // namespace winnow::train
