#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::gpu {

using Facts = std::vector<std::pair<std::string, std::string>>;
using Figures = std::vector<std::pair<std::string, double>>;

// The findings of a stage, stored item by item, so that an interrupted run continues:
// OUT/<stage>.items while it runs, OUT/<stage>.json at the end. Findings under other facts (another
// card, commit or library) are discarded. Throws Error if it cannot be written.
class Report {
 public:
  Report(std::filesystem::path folder, std::string stage, Facts facts);

  // Calls `work`, which adds the item, unless it passed in an earlier run. An exception is a
  // failure of the item.
  void run(const std::string& item, const std::function<void()>& work);
  // Also prints it on stdout. NaN and infinities are written as null.
  void add(const std::string& item, bool passed, const Figures& figures, const std::string& note);
  // Parts of the stage that this machine cannot run: reported, not passed.
  void leave_out(const std::string& item, const std::string& why);

  // Writes the JSON. Returns whether something ran and all of it passed.
  bool finish();

 private:
  struct Row {
    std::string name;
    std::string state;  // "passed", "failed", "left out"
    std::string json;
  };
  bool has(const std::string& item) const;
  void keep(Row row);

  std::filesystem::path folder_;
  std::string stage_;
  std::string facts_json_;
  std::vector<Row> rows_;
};

}  // namespace winnow::gpu
