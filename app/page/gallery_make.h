#pragma once

#include <cstdint>
#include <string>

#include "app/page/gallery_page.h"
#include "common/stop.h"
#include "pipeline/export/thumbnails.h"

namespace winnow::app {

// Parts of a page of image groups that do not depend on decisions about duplicates.
struct GallerySubject {
  std::string title;               // name of the data set, as shown to people
  std::string made;                // when, by which version and on which machine the page was made
  pipeline::PictureOf picture_of;  // reads a picture by its id; empty: the page has no pictures
  std::string no_pictures;         // why the page has no pictures, as a sentence
  GalleryFrame frame = {};
  FateWords fates = {};
  std::string first_line = {};  // GalleryConfig::first_line
};

struct GalleryLimits {
  std::size_t groups = 2000;  // most groups on the page; draw_groups() chooses which are left out
  // Size of the page in bytes; it may be exceeded by some percent.
  std::uint64_t bytes = 40'000'000;
  int threads = 0;  // threads that make pictures; 0: as many as TBB has
  StopRequested stop = {};
};

// Makes the page with its groups, and with pictures as large as the limits allow. The result is the
// same for any number of threads. Throws StoppedError.
GalleryPage make_gallery(const GalleryInput& input, const GallerySubject& subject,
                         const GalleryLimits& limits);

}  // namespace winnow::app
