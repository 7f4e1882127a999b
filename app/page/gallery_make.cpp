#include "app/page/gallery_make.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "app/page/page.h"
#include "app/page/strata.h"
#include "app/words.h"

namespace winnow::app {
namespace {

// Adds pictures to the members. Returns a sentence about them.
std::string put_pictures(const GallerySubject& subject, const GalleryLimits& limits,
                         std::vector<GalleryGroup>& groups) {
  if (!subject.picture_of) return subject.no_pictures;
  std::vector<GalleryMember*> members;
  std::vector<SampleId> ids;
  std::uint64_t text_bytes = 0;
  for (GalleryGroup& group : groups) {
    text_bytes += to_json(group).size();
    for (GalleryMember& member : group.members) {
      members.push_back(&member);
      ids.push_back(member.id);
    }
  }
  const std::uint64_t left = limits.bytes - std::min(limits.bytes, text_bytes);
  const pipeline::Thumbnails made = pipeline::make_thumbnails(
      subject.picture_of, ids,
      // base64 makes four bytes of three
      {.most_bytes = left / 4 * 3, .threads = limits.threads, .stop = limits.stop});
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (made.jpegs[i].empty()) {
      ++missing;
    } else {
      members[i]->picture = data_uri("image/jpeg", made.jpegs[i]);
    }
  }
  std::string words = fmt::format(
      "Pictures are at most {} pixels long and lossy: look at the files themselves where small "
      "things matter.",
      made.size.side_px);
  if (missing > 0) words += fmt::format(" {} could not be read.", grouped(missing));
  return words;
}

}  // namespace

GalleryPage make_gallery(const GalleryInput& input, const GallerySubject& subject,
                         const GalleryLimits& limits) {
  const std::vector<GroupFacts> facts = all_facts(input);
  GalleryPage page;
  page.title = subject.title;
  page.made = subject.made;
  page.summary = summarize(input, facts);
  for (const std::size_t place : draw_groups(facts, limits.groups)) {
    page.groups.push_back(describe_group(input, facts[place]));
  }
  page.config = config_of(page.groups);
  page.config.compared = input.compared;
  page.config.fates = subject.fates;
  page.config.first_line = subject.first_line;
  page.frame = subject.frame;
  page.pictures = put_pictures(subject, limits, page.groups);
  return page;
}

}  // namespace winnow::app
