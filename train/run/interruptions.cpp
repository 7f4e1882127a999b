#include "train/run/interruptions.h"

#include <algorithm>
#include <vector>

#include "common/comm/agreement.h"
#include "common/counted.h"
#include "common/error.h"

namespace winnow::train {

void throw_stopped(const comm::Communicator& comm, const std::filesystem::path& run,
                   RunPosition at) {
  constexpr int kRestartMe = 75;  // EX_TEMPFAIL
  if (comm.rank() != 0) throw comm::PeerError(kRestartMe);
  throw comm::AgreedError("stopped on request after step " + std::to_string(at.done) + " of " +
                              std::to_string(at.last) + "; checkpoint in " + run.string() +
                              "; resume with --resume auto",
                          kRestartMe);
}

void require_unchanged_cache(const Job& job, const std::filesystem::path& run, RunPosition at,
                             comm::Communicator& comm,
                             const std::function<void(std::string)>& note) {
  on_root(comm, [&] {
    const std::string became = pipeline::change_since_opened(*job.data.source.cache);
    if (became.empty()) return;
    const std::string what =
        job.data.folder.string() + " " + became + " while this run was training on it; all " +
        count_of(static_cast<std::uint64_t>(at.done), "step") + " used the old contents";
    if (at.done == at.last) return note(what);
    throw Error(what + "; its state is saved in " + run.string() +
                ": restore the cache and use --resume auto, or start another run");
  });
}

std::string diagnose_not_finite(const NotFiniteFindings& mine, std::int64_t step,
                                comm::Communicator& comm) {
  constexpr std::size_t kNamed = 4;  // samples for each rank
  constexpr std::size_t kRow = kNamed + 2;
  const auto ranks = static_cast<std::size_t>(comm.size());
  std::vector<std::uint64_t> rows(ranks * kRow, 0);
  std::uint64_t* own = &rows[static_cast<std::size_t>(comm.rank()) * kRow];
  own[0] = mine.loss_is_finite ? 1 : 0;
  own[1] = mine.samples.size();
  for (std::size_t i = 0; i < std::min(kNamed, mine.samples.size()); ++i) {
    own[2 + i] = mine.samples[i];
  }
  comm.all_reduce(rows);
  std::vector<NotFiniteRank> all(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::uint64_t* row = &rows[r * kRow];
    all[r].loss_is_finite = row[0] != 0;
    all[r].samples = row[1];
    all[r].first_ids.assign(row + 2, row + 2 + std::min<std::uint64_t>(kNamed, row[1]));
  }
  return describe_not_finite(step, all, mine.tensor,
                             mine.loss_scale);  // sums are the same on all ranks
}

std::string diagnose_weights(Engine& engine, bool looks, std::int64_t step,
                             comm::Communicator& comm) {
  std::string found;
  on_all(comm, [&] {
    if (!looks) return;
    engine.store_model();
    found = first_not_finite(engine.model());
  });
  for (const std::string& tensor : comm::all_gather(comm, found)) {
    if (tensor.empty()) continue;
    return "weights are not finite after step " + std::to_string(step) + ", for example in " +
           tensor + ", so they are not saved";
  }
  return "";
}

void throw_not_finite(const comm::Communicator& comm, const std::string& diagnosis,
                      const std::filesystem::path& kept) {
  if (comm.rank() != 0) throw comm::PeerError(1);
  std::string advice = "; start another run with a lower learning rate or a longer warm-up";
  if (!kept.empty()) {
    advice += ", if you like from the last good weights: --init-from " +
              (kept / "model.safetensors").string();
  }
  throw comm::AgreedError(diagnosis + advice, 1);
}

}  // namespace winnow::train
