#pragma once

#include <filesystem>
#include <string>

#include "tools/sub_verb.h"

// The verbs of `winnow index`.
namespace winnow::tools {

// One line a verb; those that change an index are in index_change.cpp, query is in index_query.cpp,
// the others in index_ask.cpp.
SubVerb add_index_add(CLI::App& index);
SubVerb add_index_delete(CLI::App& index);
SubVerb add_index_merge(CLI::App& index);
SubVerb add_index_compact(CLI::App& index);
SubVerb add_index_info(CLI::App& index);
SubVerb add_index_query(CLI::App& index);
SubVerb add_index_dedup(CLI::App& index);

// What they share: a verb of the index at `folder`, which must live as long as it.
CLI::App* add_index_verb(CLI::App& index, const std::string& name, const std::string& what,
                         std::filesystem::path& folder);

}  // namespace winnow::tools
