#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tools/reference/reference.h"

namespace winnow::tools {

struct ReferenceFile {
  std::string name{};  // path of the file when installed
  std::string text{};
};

// The reference of the command line in several formats. Each function is in a source file of its
// own.
std::vector<ReferenceFile> reference_as_json(const Reference& reference);
std::vector<ReferenceFile> reference_as_man(const Reference& reference);  // one page for each verb
// One page for each verb.
std::vector<ReferenceFile> reference_as_markdown(const Reference& reference);
std::vector<ReferenceFile> completion_for_bash(const Reference& reference);
std::vector<ReferenceFile> completion_for_zsh(const Reference& reference);
std::vector<ReferenceFile> completion_for_fish(const Reference& reference);

struct ReferenceFormat {
  std::string_view name;
  std::string_view what;
  std::vector<ReferenceFile> (*value)(const Reference& reference);
};
inline constexpr std::array kReferenceFormats{
    ReferenceFormat{"json", "one object, as docs/schemas/reference.schema.json says",
                    reference_as_json},
    ReferenceFormat{"man", "man pages, one for each verb", reference_as_man},
    ReferenceFormat{"markdown", "pages of Markdown, one for each verb", reference_as_markdown},
    ReferenceFormat{"bash", "completion for bash", completion_for_bash},
    ReferenceFormat{"zsh", "completion for zsh", completion_for_zsh},
    ReferenceFormat{"fish", "completion for fish", completion_for_fish},
};

}  // namespace winnow::tools
