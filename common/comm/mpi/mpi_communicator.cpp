#include <mpi.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>

#include "common/comm/mpi/mpi.h"
#include "common/comm/mpi/progress_engine_internal.h"
#include "common/error.h"
#include "common/unique_handle.h"

namespace winnow::comm {

namespace {

struct MpiCommTraits {
  using Raw = MPI_Comm;
  static Raw null() noexcept { return MPI_COMM_NULL; }
  static void close(Raw comm) noexcept { MPI_Comm_free(&comm); }
};
using OwnedComm = UniqueHandle<MpiCommTraits>;

MPI_Comm duplicate_world() {
  MPI_Comm raw = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &raw), "MPI_Comm_dup");
  return raw;
}

OwnedComm split_by_machine() {
  MPI_Comm raw = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &raw),
            "MPI_Comm_split_type");
  return OwnedComm(raw);
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size;
}

int tag_limit() {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
  constexpr int kLeastAllowed = 32'767;  // by the MPI standard
  return found != 0 ? *static_cast<const int*>(value) : kLeastAllowed;
}

// Calls that take an int count get this much at a time.
constexpr std::size_t kPieceElements = std::size_t{1} << 30;

class MpiCommunicator final : public Communicator {
 public:
  // MPI is initialised. An exception leaves it so: the process is about to end, and that it does so
  // without finalising tells the launcher to end the others.
  MpiCommunicator()
      : rank_(rank_in(MPI_COMM_WORLD)),
        size_(size_of(MPI_COMM_WORLD)),
        gradients_(duplicate_world()),
        control_(duplicate_world()) {
    const OwnedComm machine = split_by_machine();
    local_rank_ = rank_in(machine.get());
    local_size_ = size_of(machine.get());
    engine_.emplace(gradients_, control_, tag_limit());
  }

  // MPI_Finalize waits for the other ranks. When an exception is on its way through this one, or
  // messages were given up, they may be waiting for this rank in turn; then MPI is left as it is,
  // and the launcher ends them when this process is gone.
  ~MpiCommunicator() override {
    const bool unwinding = std::uncaught_exceptions() > exceptions_at_birth_;
    engine_->stop(/*discard=*/unwinding);
    if (unwinding || engine_->broken()) return;
    MPI_Comm_free(&gradients_);
    MPI_Comm_free(&control_);
    MPI_Finalize();
  }

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  int local_rank() const noexcept override { return local_rank_; }
  int local_size() const noexcept override { return local_size_; }

  Pending start_all_reduce(std::span<float> buffer, const Schedule& schedule,
                           const ScheduleOptions& options) override {
    return start(buffer, sum_of_floats(), schedule, options);
  }

  Pending start_all_reduce(std::span<std::int32_t> buffer, Reduction reduction,
                           const Schedule& schedule, const ScheduleOptions& options) override {
    return start(buffer, of_integers(reduction), schedule, options);
  }

  void all_reduce(std::span<double> buffer) override { sum(buffer, MPI_DOUBLE); }
  void all_reduce(std::span<std::uint64_t> buffer) override { sum(buffer, MPI_UINT64_T); }

  void broadcast(std::span<std::byte> buffer, int root) override {
    if (root < 0 || root >= size_) {
      throw Error("a broadcast from rank " + std::to_string(root) + " of " + std::to_string(size_) +
                  " ranks was asked for");
    }
    for (std::size_t at = 0; at < buffer.size(); at += kPieceElements) {
      const std::span<std::byte> piece =
          buffer.subspan(at, std::min(kPieceElements, buffer.size() - at));
      run([piece, root](MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, comm,
                             &request),
                  "MPI_Ibcast", root);
        return request;
      });
    }
  }

  void barrier() override {
    run([](MPI_Comm comm) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
      return request;
    });
  }

  [[noreturn]] void abort(int exit_code) noexcept override { engine_->abort(exit_code); }

 private:
  template <class T>
  Pending start(std::span<T> buffer, const Combine& combine, const Schedule& schedule,
                const ScheduleOptions& options) {
    std::vector<Step> steps = schedule.all_reduce(rank_, size_, buffer.size(), options);
    if (steps.empty()) return {};
    return Pending([done = engine_->submit(std::as_writable_bytes(buffer), combine,
                                           std::move(steps))] { done.get(); });
  }

  template <class T>
  void sum(std::span<T> buffer, MPI_Datatype type) {
    for (std::size_t at = 0; at < buffer.size(); at += kPieceElements) {
      const std::span<T> piece = buffer.subspan(at, std::min(kPieceElements, buffer.size() - at));
      run([piece, type](MPI_Comm comm) {
        MPI_Request request = MPI_REQUEST_NULL;
        check_mpi(MPI_Iallreduce(MPI_IN_PLACE, piece.data(), static_cast<int>(piece.size()), type,
                                 MPI_SUM, comm, &request),
                  "MPI_Iallreduce");
        return request;
      });
    }
  }

  void run(std::function<MPI_Request(MPI_Comm)> start) { engine_->submit(std::move(start)).get(); }

  const int exceptions_at_birth_ = std::uncaught_exceptions();
  const int rank_;
  const int size_;
  int local_rank_ = 0;
  int local_size_ = 1;
  MPI_Comm gradients_;  // these two are freed with MPI, see the destructor
  MPI_Comm control_;
  std::optional<ProgressEngine> engine_;  // last: it uses the communicators
};

}  // namespace

bool mpi_built() noexcept { return true; }

std::unique_ptr<Communicator> make_mpi() {
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) {
    throw Error("MPI was initialised in this process before; it can be only once");
  }
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < MPI_THREAD_SERIALIZED) {
    throw SystemError(
        "this MPI library does not support MPI_THREAD_SERIALIZED; winnow needs a build that does");
  }
  return std::make_unique<MpiCommunicator>();
}

}  // namespace winnow::comm
