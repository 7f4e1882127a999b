#pragma once

#include <string>
#include <vector>

#include "tools/reference/reference.h"

// Help as the terminal shows it, before wrapping (tools/wrapped.h).
namespace winnow::tools {

// All help of a verb: arguments, options under their headings, its verbs with a line each,
// environment variables, notes, examples.
std::string help_text(const ReferenceVerb& verb);

// The first screen for a verb with many options: the options `usual`, in that order, the number of
// others, and `examples` literally.
std::string short_help_text(const ReferenceVerb& verb, const std::vector<std::string>& usual,
                            const std::string& examples);

// The verbs below a verb, a line each, under the headings of their groups.
std::string verbs_text(const ReferenceVerb& verb);

}  // namespace winnow::tools
