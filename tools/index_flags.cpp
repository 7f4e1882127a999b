#include "tools/index_flags.h"

#include "tools/ingest_flags.h"

namespace winnow::tools {

void add_index_inputs(Verb verb, IndexInputs& inputs) {
  verb.add_option(
          "inputs", inputs.paths,
          "Caches made by winnow ingest, or data sets, as of ingest, whose images are looked "
          "at where they are")
      .required();
  add_reading_flags(verb, inputs.reading);
}

void add_pictures_flag(Verb verb, std::vector<std::filesystem::path>& sources) {
  verb.add_option("--source", sources,
                  "Of --report: a cache or a data set that was added to the index, to take its "
                  "pictures from; repeatable")
      .needs(verb.flag("--report"))
      .repeatable();
}

void let_give_more(Verb verb) {
  verb.flag("--source").needs_not(verb.flag("--report"));
  verb.flag("--source")
      .description(
          "A cache or a data set that was added to the index, to take its pictures or features "
          "from: larger pictures than its thumbnails are compared, and pages show them; "
          "repeatable");
}

}  // namespace winnow::tools
