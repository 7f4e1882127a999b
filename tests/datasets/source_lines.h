#pragma once

#include <string>
#include <vector>

#include "common/bytes.h"
#include "datasets/source.h"

namespace winnow::datasets {

// "name split label,label" for every entry.
inline std::vector<std::string> lines_of(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.entries().size(); ++i) {
    const Entry entry = source.entries()[i];
    std::string line = entry.name + " " + std::string(split_name(entry.split)) + " ";
    for (std::size_t k = 0; k < entry.labels.size(); ++k) {
      line += (k == 0 ? "" : ",") + source.class_names()[static_cast<std::size_t>(entry.labels[k])];
    }
    out.push_back(line);
  }
  return out;
}

// "name split label label" for one entry.
inline std::string line_of(const Source& source, std::size_t position) {
  const Entry entry = source.entries()[position];
  std::string line = entry.name + " " + std::string(split_name(entry.split));
  for (const std::int32_t label : entry.labels) {
    line += " " + source.class_names()[static_cast<std::size_t>(label)];
  }
  return line;
}

// The bytes of an input, or its error.
inline std::string content_of(const Source& source, std::size_t position) {
  const auto payload = source.read(position);
  if (!payload) return "error: " + payload.error().detail;
  return std::string(as_text(std::get<Bytes>(*payload)));
}

}  // namespace winnow::datasets
