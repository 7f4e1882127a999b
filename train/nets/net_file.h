#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "train/nets/net_description.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Nets described by TOML files, in the language of docs/nets.md.
inline constexpr std::size_t kMostNetFileBytes = 1 << 16;

// Parses a description.
// Errors  UsageError for invalid TOML, or for anything outside the language. It names `where`, the
//         line, the key, and the known words.
NetDescription parse_net(std::string_view text, const std::string& where);

// The net of a job.
struct NetChoice {
  std::string name;  // name in the table; for a file: its name without folder and ".toml"
  std::string description = {};  // the file's text; empty: a net of the table
  std::string where = {};        // the file, for messages; empty: "<name>.toml"
};

// Whether the user means a file, not a name of the table: it ends in ".toml".
bool is_net_file(std::string_view net);
// Reads a net file. Throws UsageError if there is no such file or it describes no net, SystemError
// if it cannot be read.
NetChoice read_net_file(const std::string& path);

// Graph and default image size of the chosen net, from the table by find_net() or from its
// description. Errors as for these.
Graph make_net(const NetChoice& net, const NetOptions& options);
int default_side_px(const NetChoice& net);

// The first error if the file is not TOML: "line 3 is not valid TOML: ...". Empty if it is, or
// cannot be read.
std::string why_no_toml(const std::string& path);

}  // namespace winnow::train
