#pragma once

#include <string>
#include <vector>

#include "app/experiment/compare.h"
#include "app/report/run_page.h"
#include "common/bytes.h"

namespace winnow::app {

// An image that a recipe and the first one predict correctly unequally often.
struct ShownDifference {
  DifferingImage image;
  std::string name{};  // name of the input; any bytes
  Bytes jpeg{};        // empty: no picture
};
struct ShownDifferences {
  std::vector<ShownDifference> gained;
  std::vector<ShownDifference> lost;
  std::size_t more_gained = 0;  // number that is not shown
  std::size_t more_lost = 0;
};

// Content of the page of `winnow compare`.
struct ComparePage {
  std::vector<RunView> views;
  std::vector<ComparedRun> runs;  // in the order of `views`
  Comparison comparison;
  std::optional<double> margin;
  std::string split;
  // number of folds of each run, whose view is that of its first fold; 0: no folds
  std::uint32_t folds = 0;
  std::vector<std::string> classes;           // any bytes
  std::vector<ShownDifferences> differences;  // one for each of comparison.others
  std::string no_pictures{};  // the reason, as a sentence; empty: there are pictures
};

// Self-contained HTML, also well-formed XML. `made`: when and by what. Pure.
std::string html_of(const ComparePage& page, const std::string& made);

// Name of a recipe: the name of its first run, and how many more runs it has.
std::string recipe_name(const ComparePage& page, std::size_t recipe);

}  // namespace winnow::app
