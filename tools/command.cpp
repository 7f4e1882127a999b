#include "tools/command.h"

#include <fmt/core.h>

#include <cstdio>

#include "pipeline/store/cache.h"

namespace winnow::tools {

void say(const Session& session, const std::string& sentence) {
  if (session.comm.rank() == 0) fmt::print(stderr, "{}\n", sentence);
}

std::unordered_map<SampleId, std::string> names_of(const pipeline::Cache& cache) {
  std::unordered_map<SampleId, std::string> names;
  for (pipeline::LedgerRow& row : cache.read_ledger()) names[row.id] = std::move(row.name);
  return names;
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

}  // namespace winnow::tools
