#pragma once

#include <map>
#include <string>

namespace winnow::train {

// Flattens a configuration to entries by path ("data.cache_digest"), to name what differs between
// two.
// An entry whose path exceeds 200 bytes is kept whole, as JSON, so that the total size stays linear
// in the text's.
std::map<std::string, std::string> config_facts(const std::string& text);

// config_facts() without entries that describe the data rather than settings: class names, and the
// digest by names.
std::map<std::string, std::string> config_settings(const std::string& text);

}  // namespace winnow::train
