#pragma once

#include <filesystem>
#include <vector>

#include "app/index/inputs.h"
#include "dedup/index/index.h"
#include "tools/command.h"
#include "tools/flags/flags.h"

namespace winnow::tools {

// `inputs` must live as long as `verb`.
void add_index_inputs(Verb verb, IndexInputs& inputs);

// Where pictures of the images in an index are, which keeps none: --source, for --report, which
// `app` has. `sources` must live as long as `verb`.
void add_pictures_flag(Verb verb, std::vector<std::filesystem::path>& sources);

// Lets --source of `verb` (add_pictures_flag) name what gives features, and pictures to compare, as
// well.
void let_give_more(Verb verb);

}  // namespace winnow::tools
