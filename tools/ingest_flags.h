#pragma once

#include <string>

#include "app/sources/reading.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// Add options to a verb: those of every verb that decodes a source; the hashes to compute; further
// ones of every verb that ingests. `flags` must live as long as `verb`. `format`: name of the
// option for the source's format.
void add_reading_flags(Verb verb, ReadingOptions& flags, const std::string& format = "--format");
void add_hashes_flag(Verb verb, ReadingOptions& flags);
void add_ingest_flags(Verb verb, ReadingOptions& flags);

// Lines for a footer of the help: "\n  NAME  WHAT" for each format and each hash, and which files
//                                      of folders are skipped.
std::string format_lines();
std::string hash_lines();
std::string skipped_lines();

}  // namespace winnow::tools
