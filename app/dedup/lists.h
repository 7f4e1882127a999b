#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/session.h"
#include "common/file.h"
#include "dedup/lists/report.h"

namespace winnow::app {

// Files for the lists of a deduplication; empty: none; "-": the standard output.
struct ListPlaces {
  std::filesystem::path removed;
  std::filesystem::path groups;
  std::filesystem::path pairs;
  std::filesystem::path look_alikes;
  std::filesystem::path low_quality;  // --list-blank
  std::filesystem::path issues;

  bool any() const noexcept {
    return !removed.empty() || !groups.empty() || !pairs.empty() || !look_alikes.empty() ||
           !low_quality.empty() || !issues.empty();
  }
};

// Stands for a path: the session's standard output.
inline constexpr const char* kStandardOutput = "-";

// Writes a list to a file durably: JSON lines if it is called *.jsonl, else CSV. To the standard
// output: CSV.
void write_list(const Session& session, const std::filesystem::path& path,
                const std::function<void(dedup::ListForm, const dedup::TextSink&)>& list);

// Throws UsageError, before any work: two of the lists, the page of --report and --json go to one
// place, or the page cannot be written there.
void check_places(const ListPlaces& lists, const std::filesystem::path& report, bool json);

// A finished deduplication: the result and what it was made from.
struct Deduplicated {
  const dedup::Result& result;
  const dedup::Options& options;
  const dedup::ColumnSource& columns;
  dedup::LinksWithEvidence links;
  dedup::NameOf name_of;
};

// How a deduplication ends: what it prints, writes and keeps.
struct Ending {
  std::string first = {};  // printed before all else; empty: nothing
  // File for the list of removed images by default; empty: CSV on stdout.
  std::filesystem::path list = {};
  std::function<Fd()> lock = {};       // held from before the first write until after the last
  std::function<void()> prepare = {};  // called before the first write
  std::function<void()> keep = {};     // writes the selection; empty: none is written
  std::string kept = {};               // the sentence about it
  std::function<void()> show = {};     // writes the page; empty: none is asked for
  bool fails_on_leak = false;
  bool json = false;
};

// Writes lists and page, then the selection, then prints the summary.
//
// Lists    durable: JSON lines if a file is called *.jsonl, else CSV.
// Failure  an error in a list or the page leaves the old selection.
// Leaks    with fails_on_leak and a leak nothing is kept, and a RefusedError comes last.
// Throws   UsageError: two lists are one file, or a list and `json` both go to the standard output.
void conclude(const Session& session, const Deduplicated& what, ListPlaces lists,
              const Ending& ending);

}  // namespace winnow::app
