#include "train/run/start/planning.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <sstream>

#include "common/checksum.h"
#include "common/comm/agreement.h"
#include "common/error.h"
#include "train/backend/checks.h"
#include "train/plan/lanes.h"
#include "train/run/start/all_reduce_choice.h"
#include "train/run/start/build_name.h"
#include "train/run/start/memory_needs.h"

namespace winnow::train {
namespace {

constexpr int kBatchesAhead = 2;

// Rank 0 chooses.
int agree_on_lane_threads(const ExecutionOptions& options, const BatchLayout& batches,
                          const RunPlan* stored, comm::Communicator& comm) {
  int threads = choose_lane_threads(
      options.lanes.threads, stored != nullptr ? stored->numerics.lane_threads : 0,
      options.reproducible, options.threads.compute, batches.micro_batches());
  comm.broadcast(std::as_writable_bytes(std::span(&threads, 1)), 0);
  return threads;
}

// Gathers `mine` from each rank.
std::vector<std::uint64_t> gather(std::uint64_t mine, comm::Communicator& comm) {
  std::vector<std::uint64_t> all(static_cast<std::size_t>(comm.size()), 0);
  all[static_cast<std::size_t>(comm.rank())] = mine;
  comm.all_reduce(all);
  return all;
}

// Kernels to impose: those asked for, and those that a resumed run began with, if they are of this
// library on such a processor. If they are not, compare_plans() says what differs.
KernelChoices kernels_to_impose(const KernelChoices& asked, const RunPlan* stored,
                                const Numerics& now) {
  KernelChoices kernels = asked;
  if (stored == nullptr) return kernels;
  const Numerics& then = stored->numerics;
  if (then.backend == now.backend && then.library == now.library &&
      then.instruction_set == now.instruction_set) {
    kernels.insert(then.kernels.begin(), then.kernels.end());
  }
  return kernels;
}

// Kernels as text, to be sent to other ranks.
std::string to_lines(const KernelChoices& kernels) {
  std::string lines;
  for (const auto& [layer, kernel] : kernels) lines += layer + "\t" + kernel + "\n";
  return lines;
}

KernelChoices from_lines(const std::string& lines) {
  KernelChoices kernels;
  std::istringstream in(lines);
  std::string kernel;
  for (std::string layer; std::getline(in, layer, '\t') && std::getline(in, kernel);) {
    kernels.emplace(layer, kernel);
  }
  return kernels;
}

// The plan that each rank would propose if it were rank 0, with its own lanes.
RunPlan propose(const ExecutionOptions& e, const Backend& backend, int lane_threads) {
  return {.numerics = {.backend = std::string(backend.name()),
                       .build = std::string(build_name()),
                       .instruction_set = backend.instruction_set(),
                       .library = backend.library(),
                       .dtype = e.dtype,
                       .sums = sums_of(e),
                       .lane_threads = lane_threads},
          .layout = {.schedule = e.all_reduce.schedule,
                     .schedule_options = e.all_reduce.grain,
                     .bucket_bytes = e.all_reduce.bucket_bytes > 0 ? e.all_reduce.bucket_bytes
                                                                   : Layout{}.bucket_bytes}};
}

// The number of lanes that this rank wishes to use. Micro-batches that share batch norms are
// computed at the same time.
int lanes_wished(const ExecutionOptions& options, const Job& job, const Backend& backend,
                 int lane_threads) {
  const auto micro_batches = static_cast<int>(job.batches.micro_batches());
  if (!backend.is_on_cpu()) {
    if (job.sync_bn && micro_batches > 1) {
      throw UsageError("--sync-bn on a card needs one micro-batch per rank, but this rank has " +
                       std::to_string(micro_batches) +
                       "; set --micro-batch to --batch-size divided by the number of ranks");
    }
    return 1;
  }
  if (job.sync_bn) return micro_batches;
  return static_cast<int>(choose_lanes(options.threads.compute, lane_threads, micro_batches,
                                       std::numeric_limits<int>::max())
                              .size());
}

// As fit_memory(), with an error that mentions the net's local heads if they contribute.
MemoryFit fit_with_heads(const Job& job, const MemoryNeeds& needs, std::size_t available,
                         const MemoryFit& wished) {
  const LocalSetup& local = job.setup.local;
  try {
    return fit_memory(needs, available, wished, job.batches.micro_batch);
  } catch (const UsageError& error) {
    if (local.updates.empty() || local.head == "linear") throw;
    throw UsageError(std::string(error.what()) + "; " + heads_in_words(local, job.forward) +
                     "; --local-head linear is smaller");
  }
}

// Fits this rank's lanes and prepared batches to its cores and memory, and puts them into
// `planned`.
void fit_rank(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
              Backend& backend, const comm::Communicator& comm, PlannedRun& planned) {
  const WishedRank wished = wish_for_rank(options, job, backend, options.lanes.threads,
                                          job.ranks.place_of(comm.rank()).ranks);
  const int lanes = wished.memory.lanes;
  const MemoryNeeds needs = memory_needs(options, job, graphs, backend, comm.rank() == 0);
  planned.evaluation_threads = wished.evaluation_threads;
  planned.memory = fit_with_heads(job, needs, planned.available, wished.memory);
  const int fitting = planned.memory.lanes;
  if (job.sync_bn && fitting < lanes) {
    throw UsageError(
        "--sync-bn computes all micro-batches of a rank at once, but memory has room for only " +
        std::to_string(fitting) + " of " + std::to_string(lanes) +
        "; use more machines or a smaller --batch-size");
  }
}

std::vector<RankLayout> lay_out_ranks(const ExecutionOptions& options, const Job& job,
                                      const RunPlan& plan, const MemoryFit& mine,
                                      comm::Communicator& comm) {
  const std::vector<std::uint64_t> lanes = gather(static_cast<std::uint64_t>(mine.lanes), comm);
  const std::vector<std::uint64_t> evaluation =
      gather(static_cast<std::uint64_t>(mine.evaluation_lanes), comm);
  const std::vector<std::uint64_t> ahead =
      gather(static_cast<std::uint64_t>(mine.batches_ahead), comm);
  const std::vector<std::uint64_t> threads =
      gather(static_cast<std::uint64_t>(options.threads.compute), comm);
  std::vector<RankLayout> ranks;
  for (std::size_t r = 0; r < lanes.size(); ++r) {
    const auto most = static_cast<int>(lanes[r]);
    const RankOf place = job.ranks.place_of(static_cast<int>(r));
    const BatchLayout batches = part_of(job.batches, place.rank, place.ranks);
    ranks.push_back(
        {.lanes = choose_lanes(most * plan.numerics.lane_threads, plan.numerics.lane_threads,
                               batches.micro_batches(), most),
         .threads = static_cast<int>(threads[r]),
         .evaluation_lanes = static_cast<int>(evaluation[r]),
         .batches_ahead = static_cast<int>(ahead[r]),
         .node = comm.placement().node_of[r]});
  }
  return ranks;
}

// Stages have layers of their own.
void add_kernels_of_others(KernelChoices& kernels, comm::Communicator& comm) {
  for (const std::string& lines : comm::all_gather(comm, to_lines(kernels))) {
    kernels.merge(from_lines(lines));
  }
}

}  // namespace

Sums sums_of(const ExecutionOptions& options) {
  if (options.reproducible) return Sums::kWholeNumbers;
  if (options.all_reduce.wire != comm::Wire::kBF16) return Sums::kFloats;
  return options.all_reduce.error_feedback ? Sums::kBF16Feedback : Sums::kBF16Messages;
}

void check_execution(const ExecutionOptions& options, const Backend& backend) {
  if (options.reproducible && options.all_reduce.wire != comm::Wire::kF32) {
    throw UsageError(
        "--reproducible sums whole numbers, which bf16 cannot represent exactly; leave out "
        "--bf16-gradients");
  }
  if (options.loss_scale > 0 && options.dtype != DType::kF16) {
    throw UsageError("--loss-scale is for --dtype f16, but this run uses " +
                     std::string(dtype_name(options.dtype)) + "; leave out --loss-scale");
  }
  if (options.all_reduce.error_feedback && options.all_reduce.wire != comm::Wire::kBF16) {
    throw UsageError("--error-feedback is for rounded gradients; add --bf16-gradients");
  }
  if (options.all_reduce.error_feedback && options.dtype == DType::kF16) {
    throw UsageError(
        "--error-feedback cannot undo the steps that --dtype f16 repeats; leave it out, or use "
        "bf16");
  }
  if (backend.is_on_cpu()) {
    check_cpu_dtype(options.dtype);
  } else if (options.lanes.threads > 0) {
    throw UsageError("--lane-threads " + std::to_string(options.lanes.threads) +
                     " is for CPU backends, but this run uses " + std::string(backend.name()) +
                     "; leave out --lane-threads");
  }
}

void check_layers(const KernelChoices& asked, const KernelCandidates& there) {
  if (there.empty()) return;
  for (const auto& [layer, kernel] : asked) {
    if (there.contains(layer)) continue;
    throw UsageError(
        "--kernel '" + layer + "=" + kernel +
        "' is for a layer that this training does not have: another net, --image-size, "
        "--micro-batch or --dtype has others; plan again with winnow plan --kernels");
  }
}

WishedRank wish_for_rank(const ExecutionOptions& options, const Job& job, const Backend& backend,
                         int lane_threads, int ranks) {
  const InferenceLanes evaluation =
      inference_lanes(job, options, lane_threads, backend.is_on_cpu(), ranks);
  return {.memory = {.lanes = lanes_wished(options, job, backend, lane_threads),
                     .evaluation_lanes = evaluation.lanes,
                     .batches_ahead = kBatchesAhead},
          .evaluation_threads = evaluation.threads};
}

PlannedRun plan_run(const ExecutionOptions& options, const Job& job, const JobGraphs& graphs,
                    Backend& backend, const RunPlan* stored, comm::Communicator& comm) {
  const bool on_cpu = backend.is_on_cpu();
  const int lane_threads = on_cpu ? agree_on_lane_threads(options, job.batches, stored, comm) : 1;
  PlannedRun planned{.plan = propose(options, backend, lane_threads),
                     .execution = {},
                     .loss_scale = options.loss_scale,
                     .memory = {},
                     .available = memory_for_rank(comm.local_size(), options.memory_bytes)};
  Numerics& numerics = planned.plan.numerics;
  numerics.kernels = from_lines(comm::broadcast_text(
      comm, to_lines(kernels_to_impose(options.lanes.kernels, stored, numerics))));
  ExecutionOptions agreed = options;
  agreed.lanes = {lane_threads, numerics.kernels};
  on_all(comm, [&] { fit_rank(agreed, job, graphs, backend, comm, planned); });
  if (job.ranks.is_pipeline()) planned.plan.layout.stage_ranks = job.ranks.ranks;
  planned.plan.layout.ranks = lay_out_ranks(options, job, planned.plan, planned.memory, comm);
  choose_all_reduces(planned.plan, options, graphs.training, backend, stored, comm);
  // All ranks use rank 0's plan.
  planned.plan = parse_plan(comm::broadcast_text(comm, to_text(planned.plan)), "rank 0's plan");
  planned.execution = plan_execution(planned.plan, graphs.training, comm.placement(), !on_cpu);
  const std::vector<std::uint64_t> digests =
      gather(digest_of_transfers(planned.execution.transfers), comm);
  planned.plan.layout.transfers = to_hex(xxh3_64(std::as_bytes(std::span(digests))));
  planned.plan.step = planned.execution.tasks;
  return planned;
}

std::unique_ptr<Engine> compile_planned(PlannedRun& planned, const RecipeOptions& recipe,
                                        const JobGraphs& graphs, Backend& backend,
                                        comm::Communicator& comm, Model model) {
  RunPlan& plan = planned.plan;
  std::unique_ptr<Engine> engine;
  const auto compile = [&] {
    engine = std::make_unique<Engine>(graphs, recipe,
                                      EnginePlan{plan.numerics, planned.execution,
                                                 planned.evaluation_threads, planned.loss_scale},
                                      backend, comm, std::move(model));
    plan.numerics.kernels = engine->kernels();
  };
  const bool measures = !backend.is_on_cpu();
  if (comm.rank() == 0 || !measures) compile();
  if (measures) {
    RunPlan of_root = parse_plan(comm::broadcast_text(comm, to_text(plan)), "rank 0's plan");
    plan.numerics.kernels = std::move(of_root.numerics.kernels);
    if (comm.rank() != 0) compile();
  }
  if (!plan.layout.stage_ranks.empty()) add_kernels_of_others(plan.numerics.kernels, comm);
  require_agreement(comm, plan.numerics.kernels);
  return engine;
}

std::string in_words(const PlannedRun& planned, const Job& job, const Backend& backend) {
  const std::string rest = " on rank 0, micro-batches of " +
                           std::to_string(job.batches.micro_batch) + ", about " +
                           in_bytes(planned.memory.peak) + " of " + in_bytes(planned.available);
  const Layout& layout = planned.plan.layout;
  const std::string schedule = layout.ranks.size() == 1 ? "" : ", all-reduce " + layout.schedule;
  if (!backend.is_on_cpu()) return backend.instruction_set() + rest + schedule;
  const std::size_t lanes = planned.execution.micro_batches.size();
  const int threads = planned.plan.numerics.lane_threads;
  return std::to_string(lanes) + (lanes == 1 ? " lane of " : " lanes of ") +
         std::to_string(threads) + (threads == 1 ? " thread" : " threads") + rest + schedule;
}

}  // namespace winnow::train
