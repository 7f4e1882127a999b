#pragma once

#include <string_view>

namespace winnow::app {

// The script and style sheet of gallery pages. embed.cmake embeds gallery.js and gallery.css into
// the program.
extern const std::string_view kGalleryJs;
extern const std::string_view kGalleryCss;

}  // namespace winnow::app
