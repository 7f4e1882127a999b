#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace winnow::train {

// Which kernel computes each layer where memory is limited (Zou et al. 2017, arXiv 1709.06622).
// Pure functions.

// One kernel that can compute a layer's pass.
struct Candidate {
  std::string name{};  // the library's, as in KernelChoices
  double seconds = 0;
  std::size_t scratch_bytes = 0;
};

// The candidates of one pass of one layer; at least one.
using Candidates = std::vector<Candidate>;

struct Algorithms {
  std::vector<std::size_t> chosen{};  // of each layer, which of its candidates
  double seconds = 0;                 // of all layers
  std::size_t scratch_bytes = 0;      // that they take together
};

// One scratch area that all layers share, as programs of winnow have it: of each layer the fastest
// candidate that fits into `bytes`. Of equally fast ones that with the least memory.
// Out  nullopt: some layer has none that fits
std::optional<Algorithms> choose_with_shared_scratch(std::span<const Candidates> layers,
                                                     std::size_t bytes);

// An area for each layer, as captured graphs need: the fastest choice whose areas together fit into
// `bytes`. Exact: branch and bound, with the linear relaxation as the bound.
// Out  nullopt: not even the smallest areas fit
std::optional<Algorithms> choose_with_own_scratch(std::span<const Candidates> layers,
                                                  std::size_t bytes);

}  // namespace winnow::train
