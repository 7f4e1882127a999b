#include "train/run/record/census.h"

#include "common/bytes.h"
#include "common/checksum.h"
#include "common/error.h"
#include "common/json.h"

namespace winnow::train {
namespace {

EpochCensus& row_of(std::vector<EpochCensus>& rows, std::uint64_t epoch) {
  if (rows.empty()) rows.push_back({.epoch = epoch});
  while (rows.back().epoch < epoch) rows.push_back({.epoch = rows.back().epoch + 1});
  return rows[epoch - rows.front().epoch];
}

}  // namespace

std::uint64_t census_hash(SampleId id) noexcept {
  return xxh3_64(std::as_bytes(std::span(&id, 1)));
}

EpochCensus full_census(const pipeline::Sampler& sampler, std::uint64_t epoch) {
  EpochCensus full{.epoch = epoch, .samples = sampler.epoch_size()};
  for (std::uint64_t i = 0; i < full.samples; ++i) {
    full.hash += census_hash(sampler.draw(static_cast<std::uint32_t>(epoch), i).id);
  }
  return full;
}

void extend_due(std::vector<EpochCensus>& due, std::size_t epochs,
                const pipeline::Sampler& sampler) {
  while (due.size() < epochs) {
    const bool known = !due.empty() && sampler.epochs_are_alike();
    due.push_back(known ? due.back() : full_census(sampler, due.size()));
    due.back().epoch = due.size() - 1;
  }
}

void count_samples(std::vector<EpochCensus>& rows, std::uint64_t begin, std::uint64_t epoch_samples,
                   const std::vector<SampleId>& ids) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EpochCensus& row = row_of(rows, (begin + i) / epoch_samples);
    ++row.samples;
    row.hash += census_hash(ids[i]);
  }
}

void check_census(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                  std::uint64_t end) {
  for (const EpochCensus& row : rows) {
    const EpochCensus& full = due.at(row.epoch);
    if ((row.epoch + 1) * full.samples > end) return;
    if (row == full) continue;
    throw Error("epoch " + std::to_string(row.epoch + 1) + " used " + std::to_string(row.samples) +
                " samples (hash " + to_hex(row.hash) + ") instead of " +
                std::to_string(full.samples) + " (hash " + to_hex(full.hash) +
                "): samples were lost or repeated, by a fault of this program or machine; do not "
                "use the run");
  }
}

std::string to_json(const std::vector<EpochCensus>& rows, const std::vector<EpochCensus>& due,
                    pipeline::Sampling sampling) {
  Json epochs = Json::array();
  for (const EpochCensus& row : rows) {
    const EpochCensus& full = due.at(row.epoch);
    epochs.push_back({{"epoch", row.epoch + 1},
                      {"samples", row.samples},
                      {"hash", to_hex(row.hash)},
                      {"due", {{"samples", full.samples}, {"hash", to_hex(full.hash)}}},
                      {"complete", row == full}});
  }
  return Json{{"schema", "winnow.census/1"},
              {"sampling", pipeline::sampling_name(sampling)},
              {"epochs", epochs}}
             .dump(2) +
         "\n";
}

}  // namespace winnow::train
