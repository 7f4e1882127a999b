#pragma once

#include <string>
#include <vector>

#include "common/json.h"
#include "dedup/lists/report.h"

namespace winnow::dedup {

// Writes a table to `out` as CSV or JSON lines (ListForm), with these columns. `out` must outlive
// the list.
class List {
 public:
  List(std::vector<std::string> names, ListForm form, const TextSink& out);
  // Writes one row, with a value for each column. Texts are UTF-8 (to_utf8), arrays hold numbers.
  void put(const std::vector<Json>& values);

 private:
  std::vector<std::string> names_;
  ListForm form_;
  const TextSink& out_;
};

}  // namespace winnow::dedup
