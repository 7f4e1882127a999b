#include "tools/dedup_flags.h"

#include <CLI/CLI.hpp>

namespace winnow::tools {

std::vector<CLI::Option*> add_dedup_flags(CLI::App& app, const std::string& prefix,
                                          DedupFlags& flags) {
  return {
      app.add_option(prefix + "hash", flags.dedup.hash,
                     "Hash to compare, or exact: equal files and pixels only")
          ->capture_default_str(),
      app.add_option(prefix + "threshold", flags.dedup.threshold,
                     "Bits that may differ between duplicates")
          ->capture_default_str(),
      app.add_option(prefix + "keep", flags.keep,
                     "Which training image of a group stays: the first, the largest, the sharpest, "
                     "or one that is "
                     "labelled as most of the group are")
          ->check(CLI::IsMember({"first", "largest", "sharpest", "majority"}))
          ->capture_default_str(),
      app.add_option(
             prefix + "scope", flags.scope,
             "all: also remove training images that have a duplicate in an evaluation split")
          ->check(CLI::IsMember({"all", "within"}))
          ->capture_default_str(),
  };
}

dedup::Options dedup_options(const DedupFlags& flags) {
  dedup::Options options = flags.dedup;
  options.keep = dedup::parse_keep_policy(flags.keep);
  options.scope = dedup::parse_scope(flags.scope);
  return options;
}

}  // namespace winnow::tools
