#pragma once

#include <map>
#include <string>

namespace winnow::train {

// Entries of a configuration by path ("data.cache_digest"), used to name differences. An entry
// whose path exceeds 200 bytes is kept whole, as JSON. So their total size is linear in the text's,
// not quadratic.
std::map<std::string, std::string> config_facts(const std::string& text);

// config_facts() without entries that describe the data and are no settings: class names, and the
// digest by names.
std::map<std::string, std::string> config_settings(const std::string& text);

}  // namespace winnow::train
