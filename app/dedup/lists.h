#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/session.h"
#include "common/file.h"
#include "dedup/lists/report.h"

namespace winnow::app {

// Files for the lists that a deduplication writes. Empty: the list is not written; "-": to the
// standard output.
struct ListPlaces {
  std::filesystem::path removed;
  std::filesystem::path groups;
  std::filesystem::path pairs;
  std::filesystem::path look_alikes;
  std::filesystem::path low_quality;  // --list-blank: images with too little detail to match
  std::filesystem::path issues;

  bool any() const noexcept {
    return !removed.empty() || !groups.empty() || !pairs.empty() || !look_alikes.empty() ||
           !low_quality.empty() || !issues.empty();
  }
};

// The path that stands for the standard output.
inline constexpr const char* kStandardOutput = "-";

// Writes a list to a file durably: as JSON lines if its name ends in .jsonl, else as CSV. To the
// standard output it writes CSV.
void write_list(const Session& session, const std::filesystem::path& path,
                const std::function<void(dedup::ListForm, const dedup::TextSink&)>& list);

// Throws UsageError if two lists, a list and the page of --report, or a list and --json have the
// same destination, or if the page cannot be written there. Call it before any work.
void check_places(const ListPlaces& lists, const std::filesystem::path& report, bool json);

// A finished deduplication: its result and its inputs.
struct Deduplicated {
  const dedup::Result& result;
  const dedup::Options& options;
  const dedup::ColumnSource& columns;
  dedup::LinksWithEvidence links;
  dedup::NameOf name_of;
};

// The last steps of a deduplication: what it prints, writes and stores.
struct Ending {
  std::string first = {};  // text to print first; empty: none
  // Default file for the list of removed images; empty: CSV on stdout.
  std::filesystem::path list = {};
  std::function<Fd()> lock = {};       // takes the lock that is held during all writes
  std::function<void()> prepare = {};  // is called before the first write
  std::function<void()> keep = {};     // writes the selection; empty: none is written
  std::string kept = {};               // sentence for the user after the selection is written
  std::function<void()> show = {};     // writes the page; empty: no page is wanted
  bool fails_on_leak = false;
  bool json = false;
};

// Ends a deduplication: writes lists and page, then the selection, then prints the summary.
//
// Lists    durable; JSON lines if the file's name ends in .jsonl, else CSV
// Failure  if a list or the page cannot be written, an earlier selection stays as it is
// Leaks    with fails_on_leak and a leak, nothing is stored, and RefusedError is thrown at the end
// Throws   UsageError: two lists have one file, or a list and `json` both go to the standard output
void conclude(const Session& session, const Deduplicated& what, ListPlaces lists,
              const Ending& ending);

}  // namespace winnow::app
