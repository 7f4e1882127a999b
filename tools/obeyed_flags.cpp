#include "tools/obeyed_flags.h"

namespace winnow::tools {

Flag add_review_flag(Verb verb, const std::string& prefix,
                     std::vector<std::filesystem::path>& reviews) {
  return verb
      .add_option(prefix + "review", reviews,
                  "Obey what people said of images in this file of winnow review: what is a "
                  "duplicate and what is not, what stays and what goes; repeatable")
      .repeatable();
}

std::vector<Flag> add_obeyed_flags(Verb verb, const std::string& prefix, Obeyed& obeyed) {
  return {
      add_review_flag(verb, prefix, obeyed.reviews),
      verb.add_option(prefix + "prefer", obeyed.globs.prefer,
                      "Of a group's images in one split, keep those first whose names fit this "
                      "glob, as in 'originals/**'; only then " +
                          prefix + "keep decides. ** is any folders, * no '/'; repeatable")
          .repeatable(),
      verb.add_option(prefix + "protect", obeyed.globs.protect,
                      "Never drop images whose names fit this glob, as in 'gold/**': what looks "
                      "like them goes, also from a split that comes first; repeatable")
          .repeatable()};
}

}  // namespace winnow::tools
