#pragma once

#include <string>

#include "app/sources/reading.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// `flags` must live as long as `verb`. Those of every verb that decodes a source, the hashes that
// it is to compute, and those of every verb that ingests, the others with them.
// `format` is what the flag of the source's format is called.
void add_reading_flags(Verb verb, ReadingOptions& flags, const std::string& format = "--format");
void add_hashes_flag(Verb verb, ReadingOptions& flags);
void add_ingest_flags(Verb verb, ReadingOptions& flags);

// For a footer: "\n  NAME  WHAT" of each format and each hash, and what of folders is passed over.
std::string format_lines();
std::string hash_lines();
std::string passed_over_lines();

}  // namespace winnow::tools
