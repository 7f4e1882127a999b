#include "tools/feature_flags.h"

#include "tools/numbers.h"

namespace winnow::tools {

void add_feature_flags(Verb verb, FeatureOptions& flags) {
  verb.add_option("--features", flags.name,
                  "Compare by these features, which winnow embed made, in place of a hash; images "
                  "without a vector match by equal files and pixels. With --verify pairs near by "
                  "them are put to the pictures");
  verb.add_option("--cosine", flags.cosine,
                  "Of --features: the least cosine of duplicates, in thousandths, as 0.97; "
                  "distances are 1000 (1 - cosine)")
      .check(real_in(-1, 1));
}

}  // namespace winnow::tools
