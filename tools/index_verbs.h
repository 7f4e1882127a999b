#pragma once

#include <filesystem>
#include <string>

#include "tools/flags/flags.h"
#include "tools/sub_verb.h"

// The verbs of `winnow index`.
namespace winnow::tools {

// One line a verb; those that change an index are in index_change.cpp, query is in index_query.cpp,
// the others in index_ask.cpp.
SubVerb add_index_add(Verb index);
SubVerb add_index_delete(Verb index);
SubVerb add_index_merge(Verb index);
SubVerb add_index_compact(Verb index);
SubVerb add_index_info(Verb index);
SubVerb add_index_query(Verb index);
SubVerb add_index_dedup(Verb index);

// What they share: a verb of the index at `folder`, which must live as long as it.
Verb add_index_verb(Verb index, const std::string& name, const std::string& what,
                    std::filesystem::path& folder);

}  // namespace winnow::tools
