#pragma once

#include <string>
#include <vector>

#include "common/json.h"
#include "dedup/lists/report.h"

namespace winnow::dedup {

// Writes rows of these fields to `out`, which must outlive the list. Forms: see ListForm.
class List {
 public:
  List(std::vector<std::string> names, ListForm form, const TextSink& out);
  // Writes one row: a value for each name. Texts are UTF-8 (to_utf8), arrays are of numbers.
  void put(const std::vector<Json>& values);

 private:
  std::vector<std::string> names_;
  ListForm form_;
  const TextSink& out_;
};

}  // namespace winnow::dedup
