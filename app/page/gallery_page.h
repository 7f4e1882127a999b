#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/page/gallery.h"
#include "dedup/leak/leak.h"

// The HTML page of a deduplication: figures, then duplicate groups as rows of pictures. Pure.
namespace winnow::app {

// Counts of a deduplication, as its HTML page shows them.
struct GallerySummary {
  struct Class {
    std::string name;
    std::uint64_t images = 0;
    std::uint64_t removed = 0;
  };
  // Two folders with images in common groups; one folder twice if the group is within it.
  struct Folders {
    std::string a;
    std::string b;
    std::uint64_t groups = 0;
  };
  std::uint64_t images = 0;
  std::uint64_t groups = 0;
  std::uint64_t removed = 0;
  std::uint64_t moved = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t chains = 0;
  std::vector<dedup::LeakCount> leaks;
  // Number of groups by their most urgent GroupReason; last: groups without a reason.
  std::array<std::uint64_t, kGroupReasonCount + 1> by_reason{};
  std::uint64_t pictures = 0;  // number of single pictures, which are shown for an issue
  // Number of single pictures by issue.
  std::array<std::uint64_t, dedup::kShownIssueCount> by_issue{};
  std::vector<Class> classes;    // the kMostListed classes with most removed images
  std::vector<Folders> folders;  // the kMostListed pairs of folders that share most groups
  std::string decided;           // how duplicates were decided, as a sentence

  static constexpr std::size_t kMostListed = 20;
};
// Computes all figures of a deduplication except classes and folders. `facts` are those of all
// groups.
GallerySummary count(const dedup::Result& result, std::span<const GroupFacts> facts);
// Computes all figures of a deduplication. Reads the names of those members of each group that
// describe_group() would show.
GallerySummary summarize(const GalleryInput& input, std::span<const GroupFacts> facts);

// Texts of a gallery page around its groups, which depend on the verb (the command that makes the
// page). The defaults are those of `winnow dedup`.
struct GalleryFrame {
  std::string verb = "winnow dedup";  // text: command that made the page
  // Text: command that applies judgements made on the page.
  std::string applying_verb = "winnow dedup";
  std::string about = "duplicates";  // text: subject of the page in the title of the window
  std::string first = {};            // text: sentence before the verdict
  std::string verdict = {};          // HTML: the main result in one sentence
  std::string tiles = {};            // HTML: large figures in the header, made by tile()
  std::string sections = {};         // HTML: sections before the groups, made by section()
  bool counts = true;  // whether tables of groups, leaks, classes and folders are shown
  // HTML: where users find the groups that the page leaves out.
  std::string listed = "All are listed by <code>--list-groups FILE</code>.";
};

// Words for what happened to an image, such as "left out", by the name of the rule that decided it,
// such as "leak". Each replaces the default words for that rule.
using FateWords = std::map<std::string, std::string>;

// Settings for the page's script, gallery.js.
struct GalleryConfig {
  bool server = false;          // true: groups are loaded from the server of `winnow review`
  bool compared = false;        // true if pictures were compared (GalleryInput)
  bool duplicates = true;       // true if the page has duplicate groups
  bool pictures = false;        // true if the page has single pictures
  dedup::IssueSet issues = {};  // issues for which single pictures are shown
  std::string key;              // key under which the browser stores the judgements of this page
  // Greatest distance of a group in bits, the end of the filter's range.
  std::uint32_t most_distance = 0;
  std::vector<std::string> splits;   // choices for the filter by split; any bytes
  std::vector<std::string> classes;  // choices for the filter by class; any bytes
  std::vector<std::string> folders;  // choices for the filter by folder; any bytes
  FateWords fates = {};
  // JSON object for the first line, after the header, of review files that the page saves.
  std::string first_line = {};
};
// Collects the choices for the page's filters from its groups. Sorted, each once.
GalleryConfig config_of(std::span<const GalleryGroup> groups);

struct GalleryPage {
  std::string title;  // text: name of the data set
  std::string made;   // text: when, by which version and on which machine the page was made
  GallerySummary summary;
  std::string pictures;  // text: sentence about the pictures; may be empty
  GalleryFrame frame = {};
  GalleryConfig config;
  std::vector<GalleryGroup> groups;  // groups on the page; empty if they are loaded from a server
};

// Makes the HTML page, which is well-formed XML, too. Names may contain any bytes. It says how many
// groups are left out. It is self-contained, except that with config.server it needs the server.
std::string html_of(const GalleryPage& page);

}  // namespace winnow::app
