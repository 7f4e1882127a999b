#pragma once

#include <memory>
#include <span>
#include <string>

#include "dedup/deduplicate.h"
#include "dedup/verify/verified_links.h"
#include "tools/choice_flags.h"

namespace winnow::tools {

// Where --verify is asked for: verifies links by codes, says what came of it, and puts that to
// options.matching. Returns the links to go by: verified ones, or `links` as they are.
//
// stored   names of hashes in the table, of which one is taken where options.hash is kExact
// Throws   UsageError where there are no thumbnails; StoppedError
dedup::LinkSource verify_where_asked(const Session& session, const ChoiceFlags& flags,
                                     const dedup::ColumnSource& columns,
                                     const dedup::ThumbnailSource& thumbnails,
                                     std::span<const std::string> stored, dedup::LinkSource links,
                                     dedup::Options& options);

}  // namespace winnow::tools
