#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/page/gallery.h"
#include "dedup/leak/leak.h"

// The page of a deduplication: figures, then groups as rows of pictures. Pure.
namespace winnow::app {

// Figures of a deduplication.
struct GallerySummary {
  struct Class {
    std::string name;
    std::uint64_t images = 0;
    std::uint64_t removed = 0;
  };
  struct Folders {  // two folders that share groups, or one twice
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
  // number of groups by their first reason
  std::array<std::uint64_t, kGroupReasonCount + 1> by_reason{};
  std::uint64_t pictures = 0;  // pictures that are shown on their own
  // number of these pictures by issue
  std::array<std::uint64_t, dedup::kShownIssueCount> by_issue{};
  std::vector<Class> classes;    // classes with most removed images, at most kMostListed
  std::vector<Folders> folders;  // folders that share most groups, at most kMostListed
  std::string decided;           // how it was decided, in words

  static constexpr std::size_t kMostListed = 20;
};
// All figures except classes and folders. `facts`: of all its groups.
GallerySummary count(const dedup::Result& result, std::span<const GroupFacts> facts);
// All figures. Asks for the names of all members of all groups, except those describe_group() would
// not show.
GallerySummary summarize(const GalleryInput& input, std::span<const GroupFacts> facts);

// Words of a page around its groups, by verb. The defaults suit a deduplication.
struct GalleryFrame {
  std::string verb = "winnow dedup";           // text: the verb whose page it is
  std::string applying_verb = "winnow dedup";  // text: the verb that applies judgements made in it
  std::string about = "duplicates";            // text: for the title of the window
  std::string first = {};                      // text: a sentence before the verdict
  std::string verdict = {};                    // HTML: the sentence to read if only one is
  std::string tiles = {};                      // HTML from tile()
  std::string sections = {};                   // HTML from section(): before the groups
  bool counts = true;                          // with tables of groups, leaks, classes and folders
  // HTML: where to find the groups that the page leaves out.
  std::string listed = "All are listed by <code>--list-groups</code>.";
};

// Words for what happened to an image, by the name of the rule that decided it: "left out" for
// "leak". They replace the usual words for that rule.
using FateWords = std::map<std::string, std::string>;

// Settings for the script of the page: see gallery.js.
struct GalleryConfig {
  bool server = false;          // groups are loaded from `winnow review`
  bool compared = false;        // pictures were compared (GalleryInput)
  bool duplicates = true;       // there are groups of duplicates
  bool pictures = false;        // there are single pictures
  dedup::IssueSet issues = {};  // issues of the pictures
  std::string key;              // key under which the browser stores judgements of this page
  std::uint32_t most_distance = 0;
  std::vector<std::string> splits;  // filters; these and the following may be any bytes
  std::vector<std::string> classes;
  std::vector<std::string> folders;
  FateWords fates = {};
  std::string first_line = {};  // first line of saved review files, after the header: a JSON object
};
// Filters for the groups in the page. Sorted, each once.
GalleryConfig config_of(std::span<const GalleryGroup> groups);

struct GalleryPage {
  std::string title;  // text: name of the data set
  std::string made;   // text: when, by what, on which machine
  GallerySummary summary;
  std::string pictures;  // text: a sentence on the pictures; may be empty
  GalleryFrame frame = {};
  GalleryConfig config;
  std::vector<GalleryGroup> groups;  // empty if they are loaded from a server
};

// A self-contained HTML page (with config.server, it also needs the server), also well-formed XML,
// whatever bytes names contain. It says which groups are left out.
std::string html_of(const GalleryPage& page);

}  // namespace winnow::app
