#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "train/nets/net_description.h"
#include "train/nets/nets.h"

namespace winnow::train {

// Nets described by TOML files, in the language of docs/nets.md.
inline constexpr std::size_t kMostNetFileBytes = 1 << 16;

// Throws UsageError: no TOML, or something that is not of the language. It names `where`, the line,
// the key, and what is known.
NetDescription parse_net(std::string_view text, const std::string& where);

// The net of a job.
struct NetChoice {
  std::string name;              // in the table; of a file: without folder and ".toml"
  std::string description = {};  // text of the file; empty: a net of the table
  std::string where = {};        // the file, for messages; empty: "<name>.toml"
};

// Whether people mean a file, and not a name of the table: it ends in ".toml".
bool is_net_file(std::string_view net);
// Throws UsageError where there is no such file or it describes no net, SystemError where it cannot
// be read.
NetChoice read_net_file(const std::string& path);

// What find_net() has of a net of the table, or a file says. Throw as these do.
Graph make_net(const NetChoice& net, const NetOptions& options);
int default_side_px(const NetChoice& net);

// Where any file is no TOML, and why: "line 3 is no TOML: ...". Empty: it is, or cannot be read.
std::string why_no_toml(const std::string& path);

}  // namespace winnow::train
