#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "app/page/gallery.h"
#include "dedup/leak/leak.h"

// The page of a deduplication: what was found in numbers, then groups as rows of pictures. Pure.
namespace winnow::app {

// What was found, in numbers.
struct GallerySummary {
  struct Class {
    std::string name;
    std::uint64_t images = 0;
    std::uint64_t removed = 0;
  };
  struct Folders {  // two that groups have images in, or twice the same
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
  std::array<std::uint64_t, kGroupReasonCount + 1> by_reason{};   // groups, each by its first
  std::uint64_t pictures = 0;                                     // shown by themselves
  std::array<std::uint64_t, dedup::kShownIssueCount> by_issue{};  // of them, that have it
  std::vector<Class> classes;    // those most is removed of, at most kMostListed
  std::vector<Folders> folders;  // those that share most groups, at most kMostListed
  std::string decided;           // how, in words

  static constexpr std::size_t kMostListed = 20;
};
// All but classes and folders. `facts`: of all its groups.
GallerySummary count(const dedup::Result& result, std::span<const GroupFacts> facts);
// Asks for the names of all members of all groups but those describe_group() would not show.
GallerySummary summarize(const GalleryInput& input, std::span<const GroupFacts> facts);

// What a page says around its groups, by which verb; what is empty is said as of a deduplication.
struct GalleryFrame {
  std::string verb = "winnow dedup";     // text: that the page is of
  std::string obeying = "winnow dedup";  // text: the verb that obeys what is judged in it
  std::string about = "duplicates";      // text: for the title of the window
  std::string first = {};                // text: a sentence before the verdict
  std::string verdict = {};              // HTML: the sentence to read if only one is
  std::string tiles = {};                // HTML, as of tile()
  std::string sections = {};             // HTML, as of section(): before what is said of groups
  bool counts = true;                    // of groups, leaks, classes and folders, in tables
  // HTML: where those groups are listed that the page leaves out.
  std::string listed = "All are listed by <code>--list-groups</code>.";
};

// Words for what becomes of an image, in place of usual ones, by the name of the rule.
using FateWords = std::map<std::string, std::string>;

// What the script of the page goes by; see gallery.js.
struct GalleryConfig {
  bool server = false;          // the groups are asked for, as `winnow review` serves them
  bool compared = false;        // pictures told which are copies (GalleryInput)
  bool duplicates = true;       // there are groups of them
  bool pictures = false;        // there are pictures by themselves
  dedup::IssueSet issues = {};  // that these have
  std::string key;              // that the browser keeps judgements of this page by
  std::uint32_t most_distance = 0;
  std::vector<std::string> splits;  // to filter by; these and the following may be any bytes
  std::vector<std::string> classes;
  std::vector<std::string> folders;
  FateWords fates = {};
  std::string first_line = {};  // of review files that it saves, behind the header: a JSON object
};
// Of the groups that are in the page. Sorted, each once.
GalleryConfig config_of(std::span<const GalleryGroup> groups);

struct GalleryPage {
  std::string title;  // text: the data set
  std::string made;   // text: when, by what, on which machine
  GallerySummary summary;
  std::string pictures;  // text: a sentence on them; may be empty
  GalleryFrame frame = {};
  GalleryConfig config;
  std::vector<GalleryGroup> groups;  // none where they are asked for
};

// One HTML page that needs nothing but itself (and, where config.server, the server), and is
// well-formed XML too, whatever bytes names hold. It says which groups are left out.
std::string html_of(const GalleryPage& page);

}  // namespace winnow::app
