#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/comm/agreement.h"
#include "common/comm/nccl/nccl.h"
#include "common/error.h"

namespace winnow::comm {

namespace {

using Clock = std::chrono::steady_clock;

void check(cudaError_t rc, const char* call) {
  if (rc == cudaSuccess) return;
  throw SystemError(std::string(call) + " failed: " + cudaGetErrorString(rc));
}

void check(ncclResult_t rc, const char* call, ncclComm_t comm) {
  if (rc == ncclSuccess || rc == ncclInProgress) return;
  std::string message = std::string(call) + " failed: " + ncclGetErrorString(rc);
  const char* const more = comm == nullptr ? nullptr : ncclGetLastError(comm);
  if (more != nullptr && *more != '\0') message += std::string(" (") + more + ")";
  throw SystemError(message);
}

// A call on a non-blocking communicator may continue in the background; the next call must wait for
// it.
void settle(ncclComm_t comm, const char* call, std::chrono::seconds patience) {
  const auto begin = Clock::now();
  for (;;) {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm, &state), "ncclCommGetAsyncError", comm);
    check(state, call, comm);
    if (state == ncclSuccess) return;
    if (Clock::now() - begin > patience) {
      throw SystemError(std::string(call) + " did not end within " +
                        std::to_string(patience.count()) +
                        " s; a rank of this machine may have ended");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// One kind of operation: a communicator, a stream, and its running operations.
//
// Threads  One at a time, with the same current device.
class Lane {
 public:
  Lane(int ranks, int rank, const ncclUniqueId& id, std::chrono::seconds patience)
      : patience_(patience) {
    // Both kinds may run at once, in different orders on different GPUs: they must fit on a GPU
    // together.
    constexpr int kMostBlocks = 16;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    config.maxCTAs = kMostBlocks;
    try {
      check(ncclCommInitRankConfig(&comm_, ranks, id, rank, &config), "ncclCommInitRankConfig",
            nullptr);
      settle(comm_, "ncclCommInitRankConfig", patience_);
      check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
    } catch (...) {
      release();
      throw;
    }
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() { release(); }

  // `enqueue` makes NCCL calls on the communicator and the stream, which form one operation.
  void start(const std::function<void(ncclComm_t, cudaStream_t)>& enqueue) {
    if (comm_ == nullptr) throw SystemError("this rank's NCCL communicator has ended");
    check(ncclGroupStart(), "ncclGroupStart", comm_);
    try {
      enqueue(comm_, stream_);
    } catch (...) {
      ncclGroupEnd();
      throw;
    }
    check(ncclGroupEnd(), "ncclGroupEnd", comm_);
    settle(comm_, "ncclGroupEnd", patience_);
    cudaEvent_t over = nullptr;
    check(cudaEventCreateWithFlags(&over, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    under_way_.push_back(over);
    check(cudaEventRecord(over, stream_), "cudaEventRecord");
    if (under_way_.size() == 1) since_ = Clock::now();
  }

  // Number of operations finished since the last call. Throws SystemError.
  std::uint64_t finished() {
    if (comm_ == nullptr || under_way_.empty()) return 0;
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError", comm_);
    check(state, "an operation of NCCL", comm_);
    std::uint64_t count = 0;
    while (!under_way_.empty()) {
      const cudaError_t rc = cudaEventQuery(under_way_.front());
      if (rc == cudaErrorNotReady) break;
      check(rc, "an operation of NCCL");
      cudaEventDestroy(under_way_.front());
      under_way_.pop_front();
      since_ = Clock::now();
      ++count;
    }
    if (!under_way_.empty() && Clock::now() - since_ > patience_) {
      throw SystemError("an operation of NCCL was not over after " +
                        std::to_string(patience_.count()) +
                        " s; a rank of this machine may have ended");
    }
    return count;
  }

  // Cancels running operations, in any state.
  void abort() noexcept {
    if (comm_ != nullptr) ncclCommAbort(std::exchange(comm_, nullptr));
  }

 private:
  void release() noexcept {
    if (comm_ != nullptr && under_way_.empty() && stream_ != nullptr) {
      try {
        check(ncclCommFinalize(comm_), "ncclCommFinalize", comm_);
        settle(comm_, "ncclCommFinalize", patience_);
        ncclCommDestroy(std::exchange(comm_, nullptr));
      } catch (const Error&) {
        // abort() frees it instead.
      }
    }
    abort();
    for (cudaEvent_t event : under_way_) cudaEventDestroy(event);
    under_way_.clear();
    if (stream_ != nullptr) cudaStreamDestroy(std::exchange(stream_, nullptr));
  }

  const std::chrono::seconds patience_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::deque<cudaEvent_t> under_way_;  // one for each operation, recorded after it
  Clock::time_point since_;            // when the first of them became the first
};

bool are_equal(std::span<const std::size_t> shares) {
  for (std::size_t r = 0; r + 1 < shares.size(); ++r) {
    if (shares[r + 1] - shares[r] != shares[1] - shares[0]) return false;
  }
  return true;
}

class NcclGroup final : public NodeGroup {
 public:
  NcclGroup(int rank, int ranks, const ncclUniqueId& of_scatters, const ncclUniqueId& of_gathers,
            std::chrono::seconds patience)
      : rank_(rank),
        size_(ranks),
        scatters_(ranks, rank, of_scatters, patience),
        gathers_(ranks, rank, of_gathers, patience) {
    check(cudaGetDevice(&device_), "cudaGetDevice");
  }

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  void start_reduce_scatter(std::span<float> buffer, std::span<const std::size_t> shares) override {
    check(cudaSetDevice(device_), "cudaSetDevice");
    scatters_.start([&](ncclComm_t comm, cudaStream_t stream) {
      float* const at = buffer.data();
      if (are_equal(shares)) {
        check(ncclReduceScatter(at + shares[0], at + shares[static_cast<std::size_t>(rank_)],
                                shares[1] - shares[0], ncclFloat, ncclSum, comm, stream),
              "ncclReduceScatter", comm);
        return;
      }
      for (std::size_t r = 0; r + 1 < shares.size(); ++r) {
        check(ncclReduce(at + shares[r], at + shares[r], shares[r + 1] - shares[r], ncclFloat,
                         ncclSum, static_cast<int>(r), comm, stream),
              "ncclReduce", comm);
      }
    });
  }

  void start_all_gather(std::span<float> buffer, std::span<const std::size_t> shares) override {
    check(cudaSetDevice(device_), "cudaSetDevice");
    gathers_.start([&](ncclComm_t comm, cudaStream_t stream) {
      float* const at = buffer.data();
      if (are_equal(shares)) {
        check(ncclAllGather(at + shares[static_cast<std::size_t>(rank_)], at + shares[0],
                            shares[1] - shares[0], ncclFloat, comm, stream),
              "ncclAllGather", comm);
        return;
      }
      for (std::size_t r = 0; r + 1 < shares.size(); ++r) {
        check(ncclBroadcast(at + shares[r], at + shares[r], shares[r + 1] - shares[r], ncclFloat,
                            static_cast<int>(r), comm, stream),
              "ncclBroadcast", comm);
      }
    });
  }

  NodeProgress advance() override {
    try {
      const std::uint64_t scatters = scatters_.finished();
      const std::uint64_t gathers = gathers_.finished();
      progress_.reduce_scatters += scatters;
      progress_.all_gathers += gathers;
      progress_.moved = scatters + gathers > 0;
    } catch (...) {
      leave();
      throw;
    }
    return progress_;
  }

  void leave() noexcept override {
    scatters_.abort();
    gathers_.abort();
  }

 private:
  const int rank_;
  const int size_;
  int device_ = 0;
  Lane scatters_;
  Lane gathers_;
  NodeProgress progress_;
};

}  // namespace

bool nccl_built() noexcept { return true; }

std::unique_ptr<NodeGroup> make_nccl_group(Communicator& comm, std::chrono::seconds patience) {
  constexpr std::size_t kWords = 2 * sizeof(ncclUniqueId) / sizeof(std::uint64_t);
  const Placement& placement = comm.placement();
  const std::vector<int> ranks = placement.ranks_of_machine();
  ncclUniqueId ids[2]{};
  on_all(comm, [&] {
    if (ranks.front() != comm.rank()) return;
    for (ncclUniqueId& id : ids) check(ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
  });
  std::vector<std::uint64_t> row(kWords);
  std::memcpy(row.data(), ids, sizeof ids);
  const std::vector<std::uint64_t> rows = all_gather(comm, row);
  std::memcpy(ids, rows.data() + static_cast<std::size_t>(ranks.front()) * kWords, sizeof ids);
  const auto me = std::ranges::find(ranks, comm.rank()) - ranks.begin();
  return std::make_unique<NcclGroup>(static_cast<int>(me), static_cast<int>(ranks.size()), ids[0],
                                     ids[1], patience);
}

}  // namespace winnow::comm
