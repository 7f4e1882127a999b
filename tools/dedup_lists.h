#pragma once

#include <filesystem>

#include "dedup/report.h"
#include "tools/command.h"

namespace winnow::tools {

// Files that a deduplication is listed in; empty: none.
struct ListFlags {
  std::filesystem::path removed;
  std::filesystem::path groups;
  std::filesystem::path pairs;
  std::filesystem::path blank;
};

// --list, --list-groups, --list-pairs and --list-blank. `flags` must live as long as `app`.
void add_list_flags(CLI::App& app, ListFlags& flags);

// What was deduplicated, and how.
struct Deduplicated {
  const dedup::Result& result;
  const dedup::Options& options;
  const dedup::ColumnSource& columns;
  dedup::LinkSource links;
  dedup::NameOf name_of;
};

// Durably: JSON lines where a file is called *.jsonl, else CSV.
// UsageError where two are one file.
void write_lists(const Deduplicated& what, const ListFlags& flags);
// What is removed, as CSV on stdout.
void print_removed(const Deduplicated& what);

// Numbers for people; `refused`: of what does not happen.
void tell(const Session& session, const dedup::Result& result, bool refused = false);

}  // namespace winnow::tools
