#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "train/nets/net_description.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Nets described by TOML files, in the format of docs/nets.md.
inline constexpr std::size_t kMostNetFileBytes = 1 << 16;

// Parses the text of a net file.
// Errors  UsageError for invalid TOML, or for anything that docs/nets.md does not allow. It names
//         `where`, the line, the key, and the known words.
NetDescription parse_net(std::string_view text, const std::string& where);

// The net of a job: a built-in net, or one described by a file.
struct NetChoice {
  std::string name;  // name of the built-in net; or the file's name without folder and ".toml"
  std::string description = {};  // text of the net file; empty: a built-in net
  std::string where = {};        // path of the net file, for messages; empty: "<name>.toml"
};

// Whether the user's choice means a net file (it ends in ".toml"), not a built-in net.
bool is_net_file(std::string_view net);
// Reads a net file.
// Throws  UsageError: there is no such file, or it describes no net. SystemError: it cannot be
//         read.
NetChoice read_net_file(const std::string& path);

// Graph and default image side of the chosen net, by find_net() or from its description. Errors as
// for find_net() and make_net().
Graph make_net(const NetChoice& net, const NetOptions& options);
int default_side_px(const NetChoice& net);

// Returns the first syntax error if the file is not TOML: "line 3 is not valid TOML: ...". Empty if
// it is, or if it cannot be read.
std::string why_no_toml(const std::string& path);

}  // namespace winnow::train
