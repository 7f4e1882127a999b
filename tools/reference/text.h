#pragma once

#include <string>
#include <vector>

#include "tools/reference/reference.h"

// Help texts as the terminal shows them, before wrapping (tools/wrapped.h).
namespace winnow::tools {

// The complete help of a verb: arguments, options under their headings, a line for each of its
// verbs, environment variables, notes, examples.
std::string help_text(const ReferenceVerb& verb);

// The short help of a verb with many options: the options `usual`, in that order, the number of
// others, and `examples` literally.
std::string short_help_text(const ReferenceVerb& verb, const std::vector<std::string>& usual,
                            const std::string& examples);

// The verbs below a verb, one line each, under the headings of their groups.
std::string verbs_text(const ReferenceVerb& verb);

}  // namespace winnow::tools
