#pragma once

#include <string>
#include <vector>

#include "pipeline/copies/peer_copy.h"

namespace winnow::pipeline {

// The list of a cache's other files as text. Parsing throws FormatError naming `where`.
std::string to_json(const std::vector<SharedCache::File>& files);
std::vector<SharedCache::File> parse_files(const std::string& text, const std::string& where);

}  // namespace winnow::pipeline
