#include "train/run/run_census.h"

#include "train/run/start/loading.h"

namespace winnow::train {

void RunCensus::add(std::int64_t step, const std::vector<SampleId>& ids) {
  count_samples(seen_, first_position(batches_, step), epoch_samples(), ids);
}

void RunCensus::gather(std::vector<EpochCensus>& rows, std::int64_t done,
                       comm::Communicator& comm) {
  const auto batch = static_cast<std::uint64_t>(batches_.batch);
  const std::uint64_t first = static_cast<std::uint64_t>(gathered_step_) * batch / epoch_samples();
  const std::uint64_t end = static_cast<std::uint64_t>(done) * batch;
  std::vector<EpochCensus> all;
  for (std::uint64_t e = first; e * epoch_samples() < end; ++e) all.push_back({.epoch = e});
  std::vector<std::uint64_t> sums(2 * all.size(), 0);
  for (const EpochCensus& mine : seen_) {
    sums[2 * (mine.epoch - first)] = mine.samples;
    sums[2 * (mine.epoch - first) + 1] = mine.hash;
  }
  comm.all_reduce(sums);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (rows.empty() || rows.back().epoch < all[i].epoch) rows.push_back(all[i]);
    EpochCensus& row = rows[all[i].epoch];
    row.samples += sums[2 * i];
    row.hash += sums[2 * i + 1];
  }
  seen_.clear();
  gathered_step_ = done;
}

std::string RunCensus::checked_text(const std::vector<EpochCensus>& rows, std::int64_t done) {
  extend_due(due_, rows.size(), sampler_);
  check_census(rows, due_, static_cast<std::uint64_t>(done * batches_.batch));
  return to_json(rows, due_, sampler_.sampling());
}

}  // namespace winnow::train
