#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "common/file.h"

namespace winnow::test {

// The differences over all vectors of one operation.
struct Difference {
  int vectors = 0;
  double largest = 0;  // in levels, before rounding the peer's values
  double values = 0;   // pixels times channels
  double differing = 0;
};
using Differences = std::map<std::string, Difference>;

// Expects a row for each operation in the table below a heading of the docs. The row must end with
// its figures: "| `mixup` | ... | 6 | 0.50 | 0.00 % |".
inline void expect_stated(const Differences& differences, const std::string& file,
                          const std::string& heading) {
  const Bytes bytes = read_file(file);
  std::string docs(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  docs.erase(0, docs.find("\n## " + heading + "\n"));
  for (const auto& [name, d] : differences) {
    char figures[100];
    std::snprintf(figures, sizeof(figures), " | %d | %.2f | %.2f %% |", d.vectors, d.largest,
                  100 * d.differing / d.values);
    const std::size_t row = docs.find("\n| `" + name + "` |");
    if (row == std::string::npos) {
      ADD_FAILURE() << file << " lacks a row for `" << name << "`" << figures;
      continue;
    }
    const std::string line = docs.substr(row + 1, docs.find('\n', row + 1) - row - 1);
    EXPECT_TRUE(line.ends_with(figures)) << line << "\nshould end with" << figures;
  }
}

}  // namespace winnow::test
