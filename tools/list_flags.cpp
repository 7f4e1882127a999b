#include "tools/list_flags.h"

#include <string>

namespace winnow::tools {

void add_list_flags(Verb verb, ListPlaces& flags) {
  const std::string form =
      "; CSV, or JSON lines where the file is called *.jsonl; - is the standard output";
  verb.add_option("--list", flags.removed,
                  "Where to list removed images (default: beside the selection)" + form);
  verb.add_option("--list-groups", flags.groups,
                  "Also list every image of every group, with the group's diameter in bits" + form);
  verb.add_option("--list-pairs", flags.pairs, "Also list all pairs of duplicates" + form);
  verb.add_option("--list-look-alikes", flags.look_alikes,
                  "Also list the pairs that look alike and are not taken for copies" + form);
  verb.add_option("--list-blank", flags.low_quality,
                  "Also list the images with too little in them to match by a hash" + form);
  verb.add_option("--list-issues", flags.issues,
                  "Also list the images that --drop-issues removed, with their scores" + form);
}

}  // namespace winnow::tools
