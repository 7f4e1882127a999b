#pragma once

#include <string>
#include <vector>

#include "tools/reference/reference.h"

// Help as the terminal shows it, not yet wrapped (tools/wrapped.h).
namespace winnow::tools {

// All of a verb: arguments, options under their headings, its verbs with a line each, the variables
// that options can be given by, notes, examples.
std::string help_text(const ReferenceVerb& verb);

// The first screen of a verb with many options: those named `usual`, in that order, how many others
// there are, and `examples`, which stand as they are.
std::string short_help_text(const ReferenceVerb& verb, const std::vector<std::string>& usual,
                            const std::string& examples);

// The verbs below a verb, a line each, under the headings of their groups.
std::string verbs_text(const ReferenceVerb& verb);

}  // namespace winnow::tools
