#pragma once

#include <string_view>

namespace winnow::app {

// The files gallery.js and gallery.css, which embed.cmake puts into the program.
extern const std::string_view kGalleryJs;
extern const std::string_view kGalleryCss;

}  // namespace winnow::app
