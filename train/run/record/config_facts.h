#pragma once

#include <map>
#include <string>

namespace winnow::train {

// Entries of a configuration by path ("data.cache_digest"), to name differences. What has a path of
// over 200 bytes is one entry, as JSON. Their size grows with that of the text, not its square.
std::map<std::string, std::string> config_facts(const std::string& text);

// The same without what belongs to the data and is no setting: names of classes, and the digest
// by them.
std::map<std::string, std::string> config_settings(const std::string& text);

}  // namespace winnow::train
