#pragma once

#include <cstdint>
#include <string>

#include "app/page/gallery_page.h"
#include "common/stop.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// What a page shows beside what was decided.
struct GallerySubject {
  std::string title;               // the data set, as people call it
  std::string made;                // when, by what, on which machine
  pipeline::PictureOf picture_of;  // empty: there are none
  std::string no_pictures;         // why, as a sentence
  GalleryFrame frame = {};
  FateWords fates = {};
  std::string first_line = {};  // as GalleryConfig has it
};

struct GalleryLimits {
  std::size_t groups = 2000;         // others are left out: see draw_groups()
  std::uint64_t bytes = 40'000'000;  // of the page, which may be some percent larger
  int threads = 0;                   // 0: what TBB has
  StopRequested stop = {};
};

// The page with its groups in it, and their pictures in the size that the limits leave them. Equal
// for any number of threads. Throws StoppedError.
GalleryPage make_gallery(const GalleryInput& input, const GallerySubject& subject,
                         const GalleryLimits& limits);

}  // namespace winnow::app
