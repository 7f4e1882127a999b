#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/session.h"
#include "common/file.h"
#include "dedup/lists/report.h"

namespace winnow::app {

// Files that a deduplication is listed in; empty: none; "-": the standard output.
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

// In place of a path: the standard output, which is the session's.
inline constexpr const char* kStandardOutput = "-";

// Writes a list to a file, durably, as JSON lines where it is called *.jsonl, else as CSV; or as
// CSV to the standard output.
void write_list(const Session& session, const std::filesystem::path& path,
                const std::function<void(dedup::ListForm, const dedup::TextSink&)>& list);

// UsageError, before anything is done, where two of the lists, the page of --report and --json
// would go to one place, or the page cannot go where it is to.
void check_places(const ListPlaces& lists, const std::filesystem::path& report, bool json);

// What was deduplicated, and how.
struct Deduplicated {
  const dedup::Result& result;
  const dedup::Options& options;
  const dedup::ColumnSource& columns;
  dedup::LinksWithEvidence links;
  dedup::NameOf name_of;
};

// How a deduplication ends.
struct Ending {
  std::string first = {};  // what is said before all else; empty: nothing
  // Where removed images are listed unless that is said; empty: as CSV on stdout.
  std::filesystem::path list = {};
  std::function<Fd()> lock = {};       // held from before anything is written until all is
  std::function<void()> prepare = {};  // before anything is written
  std::function<void()> keep = {};     // writes the selection; empty: there is none to write
  std::string kept = {};               // the sentence about it
  std::function<void()> show = {};     // writes the page of it; empty: none is asked for
  bool fails_on_leak = false;
  bool json = false;
};

// Lists, durably (JSON lines where a file is called *.jsonl, else CSV), and shows, then keeps the
// selection, so that what fails leaves the old one, then tells. Where there are leaks and they are
// to fail, nothing is kept and a RefusedError comes last. UsageError where two lists are one file,
// or a list and `json` go to the standard output.
void conclude(const Session& session, const Deduplicated& what, ListPlaces lists,
              const Ending& ending);

}  // namespace winnow::app
