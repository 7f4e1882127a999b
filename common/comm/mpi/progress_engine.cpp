#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>

#include "common/comm/mpi/progress_engine_internal.h"
#include "common/error.h"
#include "common/failpoint.h"

namespace winnow::comm {

namespace {

// Chains active at once on a rank: enough to fill a tree of depth 4 up and down for four colours,
// few enough that the receive buffers (at most a segment per child) stay in a cache.
constexpr std::size_t kWindow = 32;

// The same of data: about 1 MiB of the messages of kExchangeOptions. Where other threads
// compute, it has to last until this one is run again; gradients that begin wait for it.
constexpr std::size_t kDataWindow = 32;

// The thread shares its cores with threads that compute. After so many polls that find nothing it
// sleeps between them, longer and longer up to a limit: a message that is about to come is found
// soon, and waiting for a late rank takes about a tenth of a core.
constexpr int kEmptyPolls = 200;
constexpr std::chrono::microseconds kShortestNap{5};
constexpr std::chrono::microseconds kLongestNap{100};

// Gradients of which nothing was heard in so much sleep wait for a rank that is late. The time of a
// segment on a slow link.
constexpr std::chrono::milliseconds kPatience{10};

// With nothing to do the thread sleeps, but lets MPI look around now and then: an MPI library may
// still owe a peer the last part of a message whose request is complete here.
constexpr std::chrono::milliseconds kHeartbeat{10};

template <class T, class Operation>
void combine(std::byte* into, const std::byte* from, std::size_t count) {
  T* __restrict a = reinterpret_cast<T*>(into);
  const T* __restrict b = reinterpret_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) a[i] = Operation{}(a[i], b[i]);
}

struct Largest {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T>
Combine of_integers(MPI_Datatype type, Reduction reduction) {
  // Unsigned, since a sum that leaves the range shall wrap.
  using Sum = std::make_unsigned_t<T>;
  return {type, sizeof(T),
          reduction == Reduction::kMax ? &combine<T, Largest> : &combine<Sum, std::plus<>>};
}

std::string text_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown error";
  }
}

// A transfer has to lie in its buffer, and to fit the C ints of MPI.
void check_transfers(std::span<const Transfer> transfers, std::size_t count) {
  for (const Transfer& transfer : transfers) {
    if (transfer.count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error("a collective has a message of " + std::to_string(transfer.count) +
                  " elements, more than MPI can send at once; choose smaller segments");
    }
    if (transfer.begin > count || transfer.count > count - transfer.begin) {
      throw Error("an all-reduce of " + std::to_string(count) + " elements was given the transfer" +
                  " of elements [" + std::to_string(transfer.begin) + ", " +
                  std::to_string(transfer.begin + transfer.count) + ")");
    }
  }
}

}  // namespace

Combine sum_of_floats() { return {MPI_FLOAT, sizeof(float), &combine<float, std::plus<>>}; }
Combine of_int32(Reduction reduction) { return of_integers<std::int32_t>(MPI_INT32_T, reduction); }
Combine of_int64(Reduction reduction) { return of_integers<std::int64_t>(MPI_INT64_T, reduction); }
Combine none() { return {MPI_INT32_T, sizeof(std::int32_t), nullptr}; }

void check_mpi(int rc, const char* call, int peer) {
  if (rc == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(rc, text, &length);
  std::string message = call;
  if (peer >= 0) message += " (rank " + std::to_string(peer) + ")";
  throw SystemError(message + " failed: " + text);
}

ProgressEngine::Work::Work(MPI_Comm its_comm, std::size_t window) : comm(its_comm), chains(window) {
  for (Chain& chain : chains) idle.push_back(&chain);
}

ProgressEngine::ProgressEngine(const Channels& channels, int tag_limit, LastWords last_words,
                               Patience patience)
    : tag_limit_(tag_limit),
      last_words_(std::move(last_words)),
      patience_(patience),
      gradients_(channels.gradients, kWindow),
      data_(channels.data, kDataWindow),
      control_(channels.control, 0) {
  thread_ = std::thread([this] { run(); });
}

ProgressEngine::~ProgressEngine() { stop(/*discard=*/false); }

std::shared_future<void> ProgressEngine::submit(std::span<std::byte> buffer, const Combine& combine,
                                                std::span<const Transfer> transfers) {
  check_transfers(transfers, buffer.size() / combine.element_bytes);
  auto operation = std::make_unique<Operation>(gradients_);
  operation->out = operation->in = buffer.data();
  operation->combine = combine;
  operation->transfers = transfers;
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::submit(std::span<const std::byte> out,
                                                std::span<std::byte> in,
                                                std::vector<Transfer> transfers,
                                                StartCollective start,
                                                std::function<void()> agreed) {
  auto operation = std::make_unique<Operation>(data_);
  operation->start = std::move(start);
  operation->agreed = std::move(agreed);
  operation->out = out.data();
  operation->in = in.data();
  operation->combine = none();
  operation->own = std::move(transfers);
  operation->transfers = operation->own;
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::submit(StartCollective start, CollectiveMemory memory) {
  auto operation = std::make_unique<Operation>(control_);
  operation->start = std::move(start);
  operation->memory = memory;
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::enqueue(std::unique_ptr<Operation> operation) {
  std::shared_future<void> done = operation->done.get_future().share();
  const std::lock_guard lock(mutex_);
  inbox_.push_back(std::move(operation));
  wake_.notify_one();
  return done;
}

void ProgressEngine::stop(bool discard) noexcept {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    discard_ = discard;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

bool ProgressEngine::broken() const noexcept {
  const std::lock_guard lock(mutex_);
  return broken_;
}

void ProgressEngine::abort(int exit_code) noexcept {
  {
    const std::lock_guard lock(mutex_);
    abort_code_ = exit_code;
    wake_.notify_one();
  }
  // The engine's thread ends the process. Should it be stuck inside MPI, this does; the launcher
  // takes the others down when a rank has left without finalising.
  std::this_thread::sleep_for(std::chrono::seconds(10));
  std::_Exit(exit_code);
}

void ProgressEngine::run() noexcept {
  // In ns, for this thread; the usual 50 us would drown the short naps.
  prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL);
  for (;;) {
    try {
      if (!take_submissions()) return;
      if (failure_) {
        fail(failure_);
      } else {
        start_what_fits();
        poll();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

bool ProgressEngine::take_submissions() {
  std::unique_lock lock(mutex_);
  while (inbox_.empty() && running_.empty() && !stop_ && !abort_code_) {
    if (wake_.wait_for(lock, kHeartbeat) == std::cv_status::no_timeout || failure_) continue;
    lock.unlock();
    int found = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, gradients_.comm, &found, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
    lock.lock();
  }
  abort_if_asked();
  std::ranges::move(inbox_, std::back_inserter(running_));
  inbox_.clear();
  if (!stop_) return true;
  if (discard_ && !running_.empty()) {
    lock.unlock();
    fail(std::make_exception_ptr(
        SystemError("the communicator was given up with this operation in flight")));
    return false;
  }
  return !running_.empty();
}

void ProgressEngine::abort_if_asked() {
  if (!abort_code_) return;
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, *abort_code_);
  std::_Exit(*abort_code_);
}

void ProgressEngine::start_what_fits() {
  bool data_wait = gradients_move();
  // Starting a collective or a chain never adds to running_.
  for (const std::unique_ptr<Operation>& operation : running_) {
    if (operation->start && !operation->posted) start_collective(*operation);
    if (&operation->work == &data_) {
      data_wait = data_wait || operation->opening;  // those after it too: chains go in order
      if (data_wait) continue;
    }
    start_chains(*operation);
  }
}

bool ProgressEngine::gradients_move() const {
  return gradients_rest_ < kPatience &&
         std::ranges::any_of(
             running_, [this](const auto& operation) { return &operation->work == &gradients_; });
}

void ProgressEngine::start_collective(Operation& operation) {
  operation.posted = true;
  make_room_for_requests(1);
  operation.tag = take_tag(operation.work);  // also without transfers: other ranks may have some
  before_message("mpi.collective", -1);
  requests_.push_back(operation.start(operation.work.comm));
  posted_.push_back({&operation, nullptr, nullptr});
  operation.opening = true;
}

void ProgressEngine::finish_collective(Operation& operation) {
  operation.opening = false;
  if (operation.agreed) operation.agreed();
  if (operation.transfers.empty()) complete(operation);
}

int ProgressEngine::take_tag(Work& work) {
  const int tag = work.next_tag;
  work.next_tag = tag == tag_limit_ ? 0 : tag + 1;
  return tag;
}

void ProgressEngine::start_chains(Operation& operation) {
  const std::span<const Transfer> transfers = operation.transfers;
  std::vector<Chain*>& idle = operation.work.idle;
  while (operation.started < transfers.size() && !idle.empty()) {
    Chain& chain = *idle.back();
    idle.pop_back();
    chain.operation = &operation;
    // Every rank takes part in every chain of an all-reduce, or its contribution would be missing.
    // So all ranks count alike, and ranks in the same chain are apart by a few windows at most. Of
    // an all-to-all a rank is in some chains only: all have the operation's tag, and a pair's
    // messages match since both ends post them in the same order, chain by chain.
    chain.tag = operation.tag ? *operation.tag : take_tag(operation.work);
    chain.first = chain.end = operation.started;
    chain.last = chain.first;
    while (chain.last < transfers.size() &&
           transfers[chain.last].chain == transfers[chain.first].chain) {
      ++chain.last;
    }
    operation.started = chain.last;
    if (&operation.work == &gradients_) gradients_rest_ = {};
    start_round(chain);
  }
}

void ProgressEngine::start_round(Chain& chain) {
  const Operation& operation = *chain.operation;
  const std::size_t element_bytes = operation.combine.element_bytes;
  const std::span<const Transfer> transfers = operation.transfers;
  chain.begin = chain.end;
  while (chain.end < chain.last && transfers[chain.end].round == transfers[chain.begin].round)
    ++chain.end;
  chain.waiting = chain.end - chain.begin;
  make_room_for_requests(chain.waiting);
  const auto post = [&](const Transfer& transfer, MPI_Request request) {
    requests_.push_back(request);
    posted_.push_back({chain.operation, &chain, &transfer});
  };
  // Receives first, so that no message of this round arrives unexpected and is copied twice.
  for (std::size_t i = chain.begin; i < chain.end; ++i) {
    const Transfer& transfer = transfers[i];
    if (transfer.kind == Transfer::Kind::kSend) continue;
    std::byte* into = operation.in + transfer.begin * element_bytes;
    if (transfer.kind == Transfer::Kind::kReceiveAdd) {
      std::vector<std::byte> free;
      if (!scratch_.empty()) {
        free = std::move(scratch_.back());
        scratch_.pop_back();
      }
      if (free.size() < transfer.count * element_bytes) free.resize(transfer.count * element_bytes);
      chain.arrived.push_back(std::move(free));
      into = chain.arrived.back().data();
    }
    MPI_Request request = MPI_REQUEST_NULL;
    before_message("mpi.receive", transfer.peer);
    check_mpi(MPI_Irecv(into, static_cast<int>(transfer.count), operation.combine.type,
                        transfer.peer, chain.tag, operation.work.comm, &request),
              "MPI_Irecv", transfer.peer);
    post(transfer, request);
  }
  for (std::size_t i = chain.begin; i < chain.end; ++i) {
    const Transfer& transfer = transfers[i];
    if (transfer.kind != Transfer::Kind::kSend) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    before_message("mpi.send", transfer.peer);
    // Of data a send is done when it is being received, however small it is: what a rank that is
    // busy with gradients has not asked for yet must not pile up there.
    const auto send = &operation.work == &data_ ? &MPI_Issend : &MPI_Isend;
    check_mpi(send(operation.out + transfer.begin * element_bytes, static_cast<int>(transfer.count),
                   operation.combine.type, transfer.peer, chain.tag, operation.work.comm, &request),
              "MPI_Isend", transfer.peer);
    after_message("mpi.send", transfer.peer);
    post(transfer, request);
  }
}

// Additions wait for the whole round and then run in list order, whichever message came first: the
// same bits in every run.
void ProgressEngine::finish_round(Chain& chain) {
  Operation& operation = *chain.operation;
  std::size_t next = 0;
  for (std::size_t i = chain.begin; i < chain.end; ++i) {
    const Transfer& transfer = operation.transfers[i];
    if (transfer.kind != Transfer::Kind::kReceiveAdd) continue;
    std::vector<std::byte>& term = chain.arrived[next++];
    operation.combine.apply(operation.in + transfer.begin * operation.combine.element_bytes,
                            term.data(), transfer.count);
    scratch_.push_back(std::move(term));
  }
  chain.arrived.clear();
  if (chain.end < chain.last) {
    start_round(chain);
    return;
  }
  operation.work.idle.push_back(&chain);
  operation.finished += chain.last - chain.first;
  if (operation.finished == operation.transfers.size()) complete(operation);
}

void ProgressEngine::complete(Operation& operation) {
  const auto at = std::ranges::find(running_, &operation, &std::unique_ptr<Operation>::get);
  const std::unique_ptr<Operation> owned = std::move(*at);
  running_.erase(at);
  owned->done.set_value();
}

void ProgressEngine::check_completed(const Posted& posted, const MPI_Status& status) {
  if (posted.transfer == nullptr) {
    after_message("mpi.collective", -1);
    return;
  }
  if (posted.transfer->kind == Transfer::Kind::kSend) return;
  const int peer = posted.transfer->peer;
  int elements = 0;
  check_mpi(MPI_Get_count(&status, posted.operation->combine.type, &elements), "MPI_Get_count",
            peer);
  if (elements != static_cast<int>(posted.transfer->count)) {
    throw SystemError("rank " + std::to_string(peer) + " sent " + std::to_string(elements) +
                      " elements where " + std::to_string(posted.transfer->count) +
                      " were expected; the ranks must reduce buffers of equal size in the same"
                      " order, with the same schedule and options");
  }
  after_message("mpi.receive", peer);
}

void ProgressEngine::poll() {
  if (requests_.empty()) return;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int rc = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                              indices_.data(), statuses_.data());
  if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) check_mpi(rc, "MPI_Testsome");
  if (count <= 0) {
    if (empty_polls_ < kEmptyPolls) {
      ++empty_polls_;
    } else {
      std::this_thread::sleep_for(nap_);
      gradients_rest_ += nap_;
      nap_ = std::clamp(2 * nap_, kShortestNap, kLongestNap);
    }
    return;
  }
  empty_polls_ = 0;
  nap_ = kShortestNap;

  completed_.clear();
  for (int i = 0; i < count; ++i) {
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const Posted& posted = posted_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
    const int peer = posted.transfer == nullptr ? -1 : posted.transfer->peer;
    if (rc == MPI_ERR_IN_STATUS) check_mpi(status.MPI_ERROR, "a message or collective", peer);
    check_completed(posted, status);
    if (&posted.operation->work == &gradients_) gradients_rest_ = {};
    completed_.push_back(posted);
  }
  // Forget the completed requests before finish_round() posts new ones.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    posted_[kept++] = posted_[i];
  }
  requests_.resize(kept);
  posted_.resize(kept);

  for (const Posted& posted : completed_) {
    if (posted.chain == nullptr) {
      finish_collective(*posted.operation);
    } else if (--posted.chain->waiting == 0) {
      finish_round(*posted.chain);
    }
  }
}

// A request that MPI has made is never lost for want of memory to remember it.
void ProgressEngine::make_room_for_requests(std::size_t count) {
  const std::size_t wanted = requests_.size() + count;
  if (wanted <= requests_.capacity() && wanted <= posted_.capacity()) return;
  requests_.reserve(2 * wanted);
  posted_.reserve(2 * wanted);
}

void ProgressEngine::fail(const std::exception_ptr& why) noexcept {
  failure_ = why;
  {
    const std::lock_guard lock(mutex_);
    broken_ = true;
  }
  if (!settle()) end_all_ranks(why);
  for (std::unique_ptr<Operation>& operation : running_) {
    operation->done.set_exception(why);
    // What a collective may write into is kept as long as the process.
    if (operation->opening) static_cast<void>(operation.release());
  }
  running_.clear();
}

ProgressEngine::Access ProgressEngine::access_of(const Posted& posted) noexcept {
  if (posted.transfer != nullptr) {
    return posted.transfer->kind == Transfer::Kind::kSend ? Access::kReads : Access::kWrites;
  }
  return posted.operation->memory == CollectiveMemory::kBorrowed ? Access::kWrites : Access::kNone;
}

// Brings what is under way to an end. False: memory of a caller may still be written.
bool ProgressEngine::settle() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Transfer* transfer = posted_[i].transfer;
    if (requests_[i] == MPI_REQUEST_NULL || transfer == nullptr) continue;
    // Legal for receives only. One whose message has begun to arrive goes on to its end.
    if (transfer->kind != Transfer::Kind::kSend) MPI_Cancel(&requests_[i]);
  }
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Access most = Access::kNone;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] != MPI_REQUEST_NULL) most = std::max(most, access_of(posted_[i]));
    }
    const bool written = most == Access::kWrites;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (!written && (most == Access::kNone || waited >= patience_.sends)) break;
    if (waited >= patience_.receives || !test_left_over()) return !written;
    std::this_thread::sleep_for(kLongestNap);
    const std::lock_guard lock(mutex_);
    abort_if_asked();
  }
  requests_.clear();
  posted_.clear();
  return true;
}

// Sets the requests that are over to null; false: MPI cannot say.
bool ProgressEngine::test_left_over() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL || access_of(posted_[i]) == Access::kNone) continue;
    int done = 0;
    const int rc = MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      requests_[i] = MPI_REQUEST_NULL;  // one that failed is over too
    } else if (rc != MPI_SUCCESS) {
      return false;
    }
  }
  return true;
}

void ProgressEngine::end_all_ranks(const std::exception_ptr& why) noexcept {
  constexpr int kExitCode = 1;
  if (last_words_) {
    last_words_(
        text_of(why) +
        "; another rank has begun to send into this one's memory and does not go on, so all "
        "ranks are ended");
  }
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, kExitCode);
  std::_Exit(kExitCode);
}

}  // namespace winnow::comm
