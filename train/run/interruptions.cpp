#include "train/run/interruptions.h"

#include "common/comm/agreement.h"
#include "common/error.h"

namespace winnow::train {

void throw_stopped(const comm::Communicator& comm, const std::filesystem::path& run,
                   RunPosition at) {
  constexpr int kRestartMe = 75;  // EX_TEMPFAIL
  if (comm.rank() != 0) throw comm::PeerError(kRestartMe);
  throw comm::AgreedError("stopped as asked after step " + std::to_string(at.done) + " of " +
                              std::to_string(at.last) + " with a checkpoint in " + run.string() +
                              "; go on with it by --resume auto",
                          kRestartMe);
}

void require_unchanged_cache(const Job& job, const TrainOptions& options, RunPosition at,
                             comm::Communicator& comm,
                             const std::function<void(std::string)>& note) {
  on_root(comm, [&] {
    const std::string became = pipeline::what_became_of(*job.data.source.cache);
    if (became.empty()) return;
    const std::string what = options.data.cache.string() + " " + became +
                             " while this run was training on it; all " + std::to_string(at.done) +
                             " steps were computed on what it was";
    if (at.done == at.last) return note(what);
    throw Error(what + " and are in " + options.run.out.string() +
                ": put it back to go on with them by --resume auto, or begin another run");
  });
}

}  // namespace winnow::train
