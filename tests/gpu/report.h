#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::gpu {

using Facts = std::vector<std::pair<std::string, std::string>>;
using Figures = std::vector<std::pair<std::string, double>>;

// What a stage finds, kept item by item so that a run which was cut short goes on where it was:
// OUT/<stage>.items while it runs, OUT/<stage>.json in the end. What was found under other facts
// (another card, commit or library) is thrown away. Throws Error when it cannot be written.
class Report {
 public:
  Report(std::filesystem::path folder, std::string stage, Facts facts);

  // Calls `work`, which adds the item, unless it passed in an earlier run; what it throws is a
  // failure of the item.
  void run(const std::string& item, const std::function<void()>& work);
  // Says so on stdout as well. NaN and infinities are written as null.
  void add(const std::string& item, bool passed, const Figures& figures, const std::string& note);
  // Parts of the stage that this machine has no means for: said, not passed.
  void leave_out(const std::string& item, const std::string& why);

  // Writes the JSON and returns whether all that ran has passed, and something ran at all.
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
