#pragma once

#include <string>
#include <vector>

#include "app/experiment/compare.h"
#include "app/report/run_page.h"
#include "common/bytes.h"

namespace winnow::app {

// An image that a recipe and the first one do not have right equally often, as it is shown.
struct ShownDifference {
  DifferingImage image;
  std::string name{};  // of the input; any bytes
  Bytes jpeg{};        // empty: there is no picture
};
struct ShownDifferences {
  std::vector<ShownDifference> gained;
  std::vector<ShownDifference> lost;
  std::size_t more_gained = 0;  // that are not shown
  std::size_t more_lost = 0;
};

// All that the page of `winnow compare` shows.
struct ComparePage {
  std::vector<RunView> views;
  std::vector<ComparedRun> runs;  // of the same places
  Comparison comparison;
  std::optional<double> margin;
  std::string split;
  std::uint32_t folds = 0;  // of each of `runs`, whose views are of their first one; 0: of none
  std::vector<std::string> classes;           // any bytes
  std::vector<ShownDifferences> differences;  // of each of comparison.others
  std::string no_pictures{};                  // why, as a sentence; empty: there are
};

// It needs nothing but itself and is well-formed XML too. `made`: when, by what. Pure.
std::string html_of(const ComparePage& page, const std::string& made);

// The name of a recipe: that of its first run, and how many more there are.
std::string recipe_name(const ComparePage& page, std::size_t recipe);

}  // namespace winnow::app
