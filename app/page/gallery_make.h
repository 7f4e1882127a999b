#pragma once

#include <cstdint>
#include <string>

#include "app/page/gallery_page.h"
#include "common/stop.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// The parts of a page besides decisions.
struct GallerySubject {
  std::string title;               // name of the data set for people
  std::string made;                // when, by what, on which machine
  pipeline::PictureOf picture_of;  // empty: no pictures
  std::string no_pictures;         // the reason, as a sentence
  GalleryFrame frame = {};
  FateWords fates = {};
  std::string first_line = {};  // see GalleryConfig
};

struct GalleryLimits {
  std::size_t groups = 2000;         // further groups are left out: see draw_groups()
  std::uint64_t bytes = 40'000'000;  // size of the page, which may be some percent larger
  int threads = 0;                   // 0: as many as TBB has
  StopRequested stop = {};
};

// The page with its groups, and with pictures as large as the limits allow. The same for any number
// of threads. Throws StoppedError.
GalleryPage make_gallery(const GalleryInput& input, const GallerySubject& subject,
                         const GalleryLimits& limits);

}  // namespace winnow::app
