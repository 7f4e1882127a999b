#pragma once

#include <string>
#include <vector>

#include "dedup/deduplicate.h"
#include "tools/command.h"

namespace CLI {
class Option;
}

namespace winnow::tools {

// The options that say what counts as a duplicate and which of them stay: those of every verb that
// decides it.
struct DedupFlags {
  dedup::Options dedup;
  std::string keep = "first";
  std::string scope = "all";
};

// Named `prefix` and hash, threshold, keep or scope; `prefix` begins with "--". Returns them.
// `flags` must live as long as `app`.
std::vector<CLI::Option*> add_dedup_flags(CLI::App& app, const std::string& prefix,
                                          DedupFlags& flags);

dedup::Options dedup_options(const DedupFlags& flags);

}  // namespace winnow::tools
