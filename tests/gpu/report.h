#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace winnow::gpu {

using Facts = std::vector<std::pair<std::string, std::string>>;
using Figures = std::vector<std::pair<std::string, double>>;

// JSON, written by hand: this has to build where no JSON library is.
std::string in_quotes(const std::string& text);
std::string json_object(const Facts& facts);

// The results of a stage.
//
// Files    OUT/<stage>.json, rewritten after each item, with "finished": false until finish().
//          OUT/<stage>.items, from which a stopped run resumes.
// Facts    Results under other facts (another card, commit or library) are discarded.
// Throws   Error if a file cannot be written.
class Report {
 public:
  Report(std::filesystem::path folder, std::string stage, Facts facts);

  // Calls `work`, which adds the item, unless it passed in an earlier run. An exception is a
  // failure of the item.
  void run(const std::string& item, const std::function<void()>& work);
  // Also prints the item on stdout. NaN and infinities are written as null. `texts`: more fields.
  void add(const std::string& item, bool passed, const Figures& figures, const std::string& note,
           const Facts& texts = {});
  // Parts of the stage that this machine cannot run: reported, not passed.
  void leave_out(const std::string& item, const std::string& why);

  // Returns whether at least one item ran, and all that ran passed.
  bool finish();

 private:
  struct Row {
    std::string name;
    std::string state;  // "passed", "failed", "left out"
    std::string json;
  };
  bool has(const std::string& item) const;
  void keep(Row row);
  int count(const char* state) const;
  void write_json(bool finished) const;

  std::filesystem::path folder_;
  std::string stage_;
  std::string facts_json_;
  std::vector<Row> rows_;
};

}  // namespace winnow::gpu
