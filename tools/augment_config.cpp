#include "tools/augment_config.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace winnow::tools {
namespace {

constexpr const char* kTable = "augment";

struct Step {
  std::string name;
  std::string parameters;
};

std::string joined(const std::vector<std::string>& texts, const char* between) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : between) + text;
  return out;
}

// Two numbers are a range, three a colour.
std::string value_of(const std::vector<std::string>& inputs) {
  return joined(inputs, inputs.size() == 2 ? ".." : "/");
}

bool is_border(const CLI::ConfigItem& item) { return item.name == "++" || item.name == "--"; }

// Takes an item of the table. False if it is nested deeper than parameters are.
bool take(const CLI::ConfigItem& item, std::vector<Step>& steps) {
  if (item.parents.size() > 2) return false;
  if (item.parents.size() == 1) {
    if (is_border(item) || joined(item.inputs, ",") == "false") return true;
    const std::string text = joined(item.inputs, ",");
    steps.push_back({item.name, text == "true" ? "" : text});
    return true;
  }
  if (item.name == "++") steps.push_back({item.parents[1], ""});
  if (is_border(item)) return true;
  if (steps.empty() || steps.back().name != item.parents[1]) {
    steps.push_back({item.parents[1], ""});
  }
  std::string& parameters = steps.back().parameters;
  parameters += (parameters.empty() ? "" : ",") + item.name + "=" + value_of(item.inputs);
  return true;
}

// CLI11 2.3 takes `[table]  # comment` for an option.
std::string without_comments_of_tables(std::istream& input) {
  std::string out;
  for (std::string line; std::getline(input, line);) {
    const std::size_t begin = line.find_first_not_of(" \t");
    const std::size_t comment = line.find('#');
    const bool is_table =
        begin != std::string::npos && line[begin] == '[' && line.find_first_of("\"'=,") > comment;
    out += line.substr(0, is_table ? comment : line.size()) + "\n";
  }
  return out;
}

class ConfigWithAugment : public CLI::ConfigTOML {
 public:
  std::vector<CLI::ConfigItem> from_config(std::istream& file) const override {
    std::istringstream input(without_comments_of_tables(file));
    std::vector<CLI::ConfigItem> items;
    std::vector<Step> steps;
    bool found = false;
    for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(input)) {
      const bool ours = !item.parents.empty() && item.parents.front() == kTable;
      found = found || ours;
      if (!ours || !take(item, steps)) items.push_back(std::move(item));
    }
    if (!found) return items;
    std::string recipe;
    for (const Step& step : steps) {
      recipe += (recipe.empty() ? "" : "+") + step.name +
                (step.parameters.empty() ? "" : ":" + step.parameters);
    }
    if (recipe.empty()) recipe = "none";
    items.push_back({{"train"}, kTable, {recipe}});
    return items;
  }
};

}  // namespace

void read_augment_table(CLI::App& program) {
  program.config_formatter(std::make_shared<ConfigWithAugment>());
}

}  // namespace winnow::tools
