#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "common/comm/exchange.h"
#include "common/comm/hierarchical_executor.h"
#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/combine_internal.h"
#include "common/comm/mpi/introductions_internal.h"
#include "common/comm/mpi/mpi.h"
#include "common/comm/mpi/progress_engine_internal.h"
#include "common/comm/node/shared_memory.h"
#include "common/error.h"
#include "common/small_float.h"
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

// The machine number of each rank of the world, in the order of their lowest ranks.
std::vector<int> nodes_of_world(MPI_Comm machine) {
  const int me = rank_in(MPI_COMM_WORLD);
  int lowest = me;
  check_mpi(MPI_Allreduce(&me, &lowest, 1, MPI_INT, MPI_MIN, machine), "MPI_Allreduce");
  std::vector<int> nodes(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  check_mpi(MPI_Allgather(&lowest, 1, MPI_INT, nodes.data(), 1, MPI_INT, MPI_COMM_WORLD),
            "MPI_Allgather");
  const std::set<int> machines(nodes.begin(), nodes.end());
  for (int& node : nodes) {
    node = static_cast<int>(std::distance(machines.begin(), machines.find(node)));
  }
  return nodes;
}

// The first letters of each rank's host.
RankNames names_of_world() {
  constexpr int kLetters = 32;
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> own{};
  int length = 0;
  check_mpi(MPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  RankNames names{.rank = rank_in(MPI_COMM_WORLD)};
  std::vector<std::array<char, kLetters>> all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  check_mpi(
      MPI_Allgather(own.data(), kLetters, MPI_CHAR, all.data(), kLetters, MPI_CHAR, MPI_COMM_WORLD),
      "MPI_Allgather");
  for (const auto& host : all) {
    names.hosts.emplace_back(host.begin(), std::ranges::find(host, '\0'));
  }
  return names;
}

int tag_limit() {
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found), "MPI_Comm_get_attr");
  constexpr int kLeastAllowed = 32'767;  // by the MPI standard
  return found != 0 ? *static_cast<const int*>(value) : kLeastAllowed;
}

// Facts on which both ends of a part must agree before an all-to-all sends anything: a receiver
// that expects too many messages would wait for ever.
struct PartAgreement {
  std::uint64_t bytes = 0;
  std::uint64_t segment_elements = 0;
};

// The agreements for all parts of this rank, as seen by it and by the other ends.
struct ExchangeAgreement {
  int rank = 0;
  std::vector<PartAgreement> sent;      // [r]: for the part to rank r
  std::vector<PartAgreement> expected;  // [r]: for the part from rank r
  std::vector<PartAgreement> told;      // [r]: rank r's view of that part

  void check() const {
    for (std::size_t peer = 0; peer < told.size(); ++peer) {
      if (told[peer].bytes != expected[peer].bytes) {
        throw SystemError("rank " + std::to_string(peer) + " has " +
                          std::to_string(told[peer].bytes) + " bytes for rank " +
                          std::to_string(rank) + " in an all-to-all, but that rank expects " +
                          std::to_string(expected[peer].bytes) +
                          "; the ranks must plan the same exchanges in the same order");
      }
      if (told[peer].segment_elements != expected[peer].segment_elements) {
        throw SystemError("rank " + std::to_string(peer) + " cuts an all-to-all into segments of " +
                          std::to_string(told[peer].segment_elements) + " elements, but rank " +
                          std::to_string(rank) + " into segments of " +
                          std::to_string(expected[peer].segment_elements) +
                          "; give all ranks the same options");
      }
    }
  }
};

std::vector<PartAgreement> agreements(std::span<const std::size_t> offsets,
                                      const ScheduleOptions& options) {
  std::vector<PartAgreement> out;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    out.push_back({offsets[i + 1] - offsets[i], options.segment_elements});
  }
  return out;
}

// Sizes and offsets of all parts, in the C ints of the MPI library.
struct PartsInInts {
  explicit PartsInInts(std::span<const std::size_t> offsets) {
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      begins.push_back(static_cast<int>(offsets[i]));
      counts.push_back(static_cast<int>(offsets[i + 1] - offsets[i]));
    }
  }
  std::vector<int> begins;
  std::vector<int> counts;
};

// Throws Error if it is more than one call of the MPI library takes.
void check_fits_int(std::size_t count, const char* what) {
  if (count <= static_cast<std::size_t>(std::numeric_limits<int>::max())) return;
  throw Error(std::string(what) + " of " + std::to_string(count) +
              " was requested from the MPI library; its limit is below 2^31");
}

// A completed request, for callers that wait for a request after a blocking call. MPI_Iallreduce
// would be no measure of the library: Open MPI uses another algorithm for it, which is several
// times slower.
MPI_Request completed_request() {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto query = [](void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
  };
  const auto release = [](void*) { return MPI_SUCCESS; };
  const auto cancel = [](void*, int) { return MPI_SUCCESS; };
  check_mpi(MPI_Grequest_start(query, release, cancel, nullptr, &request), "MPI_Grequest_start");
  check_mpi(MPI_Grequest_complete(request), "MPI_Grequest_complete");
  return request;
}

MPI_Request post_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(comm, &request), "MPI_Ibarrier");
  return request;
}

template <class T>
MPI_Request post_sum(std::vector<T>& buffer, MPI_Datatype type, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, buffer.data(), static_cast<int>(buffer.size()), type,
                           MPI_SUM, comm, &request),
            "MPI_Iallreduce");
  return request;
}

// Control collectives are cut into pieces of this size, each in separate memory while MPI uses it.
constexpr std::size_t kPieceBytes = std::size_t{1} << 26;

class MpiCommunicator final : public Communicator {
 public:
  // MPI is initialised. After an exception it stays so: the process is about to end, and ending
  // without finalising makes the launcher end the others.
  explicit MpiCommunicator(LastWords last_words)
      : rank_(rank_in(MPI_COMM_WORLD)),
        size_(size_of(MPI_COMM_WORLD)),
        channels_{duplicate_world(), duplicate_world(), duplicate_world(), duplicate_world()} {
    const OwnedComm machine = split_by_machine();
    local_rank_ = rank_in(machine.get());
    local_size_ = size_of(machine.get());
    placement_ = {rank_, nodes_of_world(machine.get())};
    engine_.emplace(channels_, tag_limit(), names_of_world(), std::move(last_words));
  }

  // MPI_Finalize waits for the other ranks. During stack unwinding, or if messages were given up,
  // they may be waiting for this rank in turn. Then MPI is not finalised, and the launcher ends
  // them when this process is gone.
  ~MpiCommunicator() override {
    const bool unwinding = std::uncaught_exceptions() > exceptions_at_birth_;
    const bool discard = unwinding || (hierarchical_ && hierarchical_->broken());
    if (!discard) hierarchical_.reset();  // after what is in flight
    engine_->stop(discard);
    if (discard || engine_->broken()) return;
    MPI_Comm_free(&channels_.gradients);
    MPI_Comm_free(&channels_.shares);
    MPI_Comm_free(&channels_.data);
    MPI_Comm_free(&channels_.control);
    MPI_Finalize();
  }

  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  int local_rank() const noexcept override { return local_rank_; }
  int local_size() const noexcept override { return local_size_; }
  const Placement& placement() const noexcept override { return placement_; }

  Pending start(const Collective& what, std::span<const Transfer> transfers) override {
    switch (what.buffer.type) {
      case ElementType::kBF16:
        return start_widened<BF16>(what, Wire::kBF16, transfers);
      case ElementType::kF16:
        return start_widened<F16>(what, Wire::kF16, transfers);
      default:
        return start_as_it_is(what, transfers);
    }
  }

  Pending start(std::span<float> buffer, const HierarchicalParts& parts, Wire wire) override {
    share_memory();
    return Pending([done = hierarchical_->submit(buffer, parts, wire)] { done.get(); });
  }

  bool can_share_memory() override {
    try {
      share_memory();
    } catch (const Error&) {  // on every rank
      return false;
    }
    return true;
  }

  Pending start_all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                           std::span<std::byte> in, std::span<const std::size_t> in_offsets,
                           const ScheduleOptions& options) override {
    const Exchange exchange{out, out_offsets, in, in_offsets};
    std::vector<Transfer> transfers = plan_exchange(rank_, size_, exchange, options);
    copy_part_kept(rank_, exchange);
    if (size_ == 1) return {};
    auto agreement = std::make_shared<ExchangeAgreement>(
        ExchangeAgreement{rank_, agreements(out_offsets, options), agreements(in_offsets, options),
                          std::vector<PartAgreement>(static_cast<std::size_t>(size_))});
    const auto tell = [agreement](MPI_Comm comm) {
      constexpr int kWords = sizeof(PartAgreement) / sizeof(std::uint64_t);
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ialltoall(agreement->sent.data(), kWords, MPI_UINT64_T, agreement->told.data(),
                              kWords, MPI_UINT64_T, comm, &request),
                "MPI_Ialltoall");
      return request;
    };
    const auto check = [agreement] { agreement->check(); };
    return Pending([done = engine_->submit(out, in, std::move(transfers), tell, check,
                                           checksums_)] { done.get(); });
  }

  void all_to_all(std::span<const std::byte> out, std::span<const std::size_t> out_offsets,
                  std::span<std::byte> in, std::span<const std::size_t> in_offsets) override {
    check_exchange(size_, {out, out_offsets, in, in_offsets});
    check_fits_int(std::max(out_offsets.back(), in_offsets.back()), "an all-to-all");
    const PartsInInts from(out_offsets);
    const PartsInInts into(in_offsets);
    const auto start = [&](MPI_Comm comm) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(
          MPI_Ialltoallv(out.data(), from.counts.data(), from.begins.data(), MPI_BYTE, in.data(),
                         into.counts.data(), into.begins.data(), MPI_BYTE, comm, &request),
          "MPI_Ialltoallv");
      return request;
    };
    engine_->submit(start, CollectiveMemory::kBorrowed).get();  // no copies: this is measured
  }

  void use_checksums(bool use) override { checksums_ = use; }

  void library_all_reduce(const Elements& buffer) override {
    check_fits_int(buffer.size(), "an all-reduce");
    const MPI_Datatype type = combine_of({.buffer = buffer}).type;
    const auto start = [buffer, type](MPI_Comm comm) {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, buffer.bytes.data(), static_cast<int>(buffer.size()),
                              type, MPI_SUM, comm),
                "MPI_Allreduce");
      return completed_request();
    };
    engine_->submit(start, CollectiveMemory::kBorrowed).get();
  }
  void all_reduce(std::span<double> buffer) override { sum(buffer, MPI_DOUBLE); }
  void all_reduce(std::span<std::uint64_t> buffer) override { sum(buffer, MPI_UINT64_T); }

  void broadcast(std::span<std::byte> buffer, int root) override {
    if (root < 0 || root >= size_) {
      throw Error("a broadcast from rank " + std::to_string(root) + " of " + std::to_string(size_) +
                  " ranks was asked for");
    }
    run_in_pieces(buffer, [root](std::vector<std::byte>& piece, MPI_Comm comm) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(
          MPI_Ibcast(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, root, comm, &request),
          "MPI_Ibcast", root);
      return request;
    });
  }

  void barrier() override { run(&post_barrier); }

  Pending start_sum(std::span<double> buffer) override {
    check_fits_int(buffer.size(), "a sum");
    const auto copy = std::make_shared<std::vector<double>>(buffer.begin(), buffer.end());
    const auto start = [copy](MPI_Comm comm) { return post_sum(*copy, MPI_DOUBLE, comm); };
    return Pending([copy, buffer, done = engine_->submit(start, CollectiveMemory::kOwned)] {
      done.get();
      std::ranges::copy(*copy, buffer.begin());
    });
  }

  Arrival start_barrier() override {
    const auto heard = std::make_shared<std::promise<std::chrono::steady_clock::time_point>>();
    engine_->submit(&post_barrier, CollectiveMemory::kOwned,
                    [heard] { heard->set_value(std::chrono::steady_clock::now()); });
    return heard->get_future();
  }
  double adding_seconds() const noexcept override {
    const HierarchicalExecutor* const inside = inside_;
    const auto working = inside == nullptr ? std::chrono::nanoseconds{} : inside->working();
    return std::chrono::duration<double>(engine_->adding() + working).count();
  }

  [[noreturn]] void abort(int exit_code) noexcept override { engine_->abort(exit_code); }

 private:
  void share_memory() {
    if (hierarchical_) return;
    hierarchical_.emplace(
        make_shared_memory_group(*this),
        [this](std::span<float> share, std::span<const Transfer> between, Wire wire) {
          return engine_->submit({share, Reduction::kSum, wire}, between, {checksums_, true});
        });
    inside_ = &*hierarchical_;
  }

  Pending start_as_it_is(const Collective& what, std::span<const Transfer> transfers) {
    if (size_ == 1 && transfers.empty()) return {};
    return Pending(
        [done = engine_->submit(what, transfers, {.checksums = checksums_})] { done.get(); });
  }

  // Uses a copy in f32.
  template <class Small>
  Pending start_widened(const Collective& what, Wire wire, std::span<const Transfer> transfers) {
    const std::span<Small> buffer(reinterpret_cast<Small*>(what.buffer.bytes.data()),
                                  what.buffer.size());
    auto floats = std::make_shared<std::vector<float>>(buffer.size());
    std::ranges::transform(buffer, floats->begin(), [](Small value) { return to_float(value); });
    Collective of_floats = what;
    of_floats.buffer = *floats;
    of_floats.wire = wire;
    auto sum = std::make_shared<Pending>(start_as_it_is(of_floats, transfers));
    return Pending([buffer, floats, sum] {
      sum->wait();
      std::ranges::transform(*floats, buffer.begin(), &round_to<Small>);
    });
  }

  template <class T>
  void sum(std::span<T> buffer, MPI_Datatype type) {
    run_in_pieces(buffer, [type](std::vector<T>& piece, MPI_Comm comm) {
      return post_sum(piece, type, comm);
    });
  }

  // Runs a collective on copies of the parts of `buffer`, not on the caller's memory. A collective
  // cannot be cancelled, so after a failure of the engine MPI may still write.
  template <class T, class Start>
  void run_in_pieces(std::span<T> buffer, const Start& start) {
    constexpr std::size_t kPieceElements = kPieceBytes / sizeof(T);
    for (std::size_t at = 0; at < buffer.size(); at += kPieceElements) {
      const std::span<T> part = buffer.subspan(at, std::min(kPieceElements, buffer.size() - at));
      const auto copy = std::make_shared<std::vector<T>>(part.begin(), part.end());
      run([copy, start](MPI_Comm comm) { return start(*copy, comm); });
      std::ranges::copy(*copy, part.begin());
    }
  }

  void run(StartCollective start) {
    engine_->submit(std::move(start), CollectiveMemory::kOwned).get();
  }

  const int exceptions_at_birth_ = std::uncaught_exceptions();
  const int rank_;
  const int size_;
  int local_rank_ = 0;
  int local_size_ = 1;
  Placement placement_;
  std::atomic<bool> checksums_ = false;   // two threads begin operations
  Channels channels_;                     // freed with MPI, see the destructor
  std::optional<ProgressEngine> engine_;  // after the communicators, which it uses
  // uses the communicators, too; made on first use
  std::optional<HierarchicalExecutor> hierarchical_;
  std::atomic<const HierarchicalExecutor*> inside_ = nullptr;  // the same object, for any thread
};

}  // namespace

bool mpi_built() noexcept { return true; }

bool mpi_is_open() noexcept { return true; }

std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "of unknown version";
  const std::string whole = text.data();
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::unique_ptr<Communicator> make_mpi(LastWords last_words, const Introductions& introductions) {
  int initialized = 0;
  check_mpi(MPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) {
    throw Error("MPI was initialised in this process before; it can be only once");
  }
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  // MPI 4 raises errors of calls without a communicator, such as MPI_Lookup_name, on MPI_COMM_SELF.
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  if (provided < MPI_THREAD_SERIALIZED) {
    throw SystemError(
        "this MPI library does not support MPI_THREAD_SERIALIZED; winnow needs a build that does");
  }
  connect_ranks(introductions);
  return std::make_unique<MpiCommunicator>(std::move(last_words));
}

}  // namespace winnow::comm
