#include "dedup/policy/precedence.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/glob.h"

namespace winnow::dedup {
namespace {

// Counts the globs that match a name. Returns whether any does.
bool fits_any(std::vector<Precedence::Glob>& globs, std::string_view name) {
  bool any = false;
  for (Precedence::Glob& glob : globs) {
    const bool fits = glob_fits(glob.text, name);
    glob.images += fits ? 1 : 0;
    any = any || fits;
  }
  return any;
}

}  // namespace

Precedence precedence_of(std::span<const SampleId> ids, const NameSource& names, const Globs& globs,
                         const RowSets& chosen) {
  Precedence out;
  for (const std::string& glob : globs.prefer) out.prefer.push_back({glob});
  for (const std::string& glob : globs.protect) out.protect.push_back({glob});
  if (!out.prefer.empty()) out.preferred.resize(ids.size());
  if (!out.protect.empty()) out.is_protected.resize(ids.size());
  if (!out.prefer.empty() || !out.protect.empty()) {
    names([&](SampleId id, std::string_view name) {
      const auto at = std::ranges::lower_bound(ids, id);
      if (at == ids.end() || *at != id) return;
      const auto row = static_cast<std::size_t>(at - ids.begin());
      if (fits_any(out.prefer, name)) out.preferred[row] = true;
      if (fits_any(out.protect, name)) out.is_protected[row] = true;
    });
  }
  if (!chosen.empty()) out.chosen.resize(ids.size());
  for (std::uint32_t i = 0; i < chosen.size(); ++i) {
    for (const std::uint32_t row : chosen[i]) out.chosen[row] = i + 1;
  }
  return out;
}

}  // namespace winnow::dedup
