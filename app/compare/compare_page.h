#pragma once

#include <string>
#include <vector>

#include "app/experiment/compare.h"
#include "app/report/run_page.h"
#include "common/bytes.h"

namespace winnow::app {

// An image that a recipe and the first recipe predict correctly with different frequency.
struct ShownDifference {
  DifferingImage image;
  std::string name{};  // name of the image's input; any bytes
  Bytes jpeg{};        // picture as a JPEG; empty: no picture
};
struct ShownDifferences {
  std::vector<ShownDifference> gained;
  std::vector<ShownDifference> lost;
  std::size_t more_gained = 0;  // number of further gained images that are not shown
  std::size_t more_lost = 0;    // number of further lost images that are not shown
};

// Content of the page of `winnow compare`.
struct ComparePage {
  std::vector<RunView> views;
  std::vector<ComparedRun> runs;  // runs in the order of `views`
  Comparison comparison;
  std::optional<double> margin;
  std::string split;
  // Number of folds of each run, whose view is that of its first fold; 0: no folds.
  std::uint32_t folds = 0;
  std::vector<std::string> classes;           // names of the classes, any bytes
  std::vector<ShownDifferences> differences;  // differing images of each entry of comparison.others
  std::string no_pictures{};  // why there are no pictures, as a sentence; empty: there are pictures
};

// Makes the page of `winnow compare`: self-contained HTML, well-formed XML, too. `made`: when, by
// which version and on which machine. Pure.
std::string html_of(const ComparePage& page, const std::string& made);

// Name of a recipe on the page: the name of its first run, and how many more runs it has.
std::string recipe_name(const ComparePage& page, std::size_t recipe);

}  // namespace winnow::app
