#include <algorithm>
#include <string>
#include <thread>

#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/request_pool_internal.h"
#include "common/error.h"
#include "common/failpoint.h"

namespace winnow::comm {

namespace {

// Pause between tests of the requests that a failure left.
constexpr std::chrono::microseconds kSettleNap{100};

bool is_send(const Transfer& transfer) { return transfer.kind == Transfer::Kind::kSend; }

// A receive must get as many elements as its transfer has.
void check_completed(const Posted& posted, const MPI_Status& status) {
  if (posted.transfer == nullptr) {
    after_message("mpi.collective", -1);
    return;
  }
  if (is_send(*posted.transfer)) return;
  const int peer = posted.transfer->peer;
  const Message expected = message_of(*posted.operation, *posted.transfer);
  int elements = 0;
  check_mpi(MPI_Get_count(&status, expected.type, &elements), "MPI_Get_count", peer);
  if (elements != static_cast<int>(expected.count)) {
    throw SystemError("rank " + std::to_string(peer) + " sent " + std::to_string(elements) +
                      (posted.operation->checksums ? " bytes" : " elements") + " where " +
                      std::to_string(expected.count) +
                      " were expected; the ranks must reduce buffers of equal size in the same"
                      " order, with the same schedule and options");
  }
  after_message("mpi.receive", peer);
}

}  // namespace

void RequestPool::make_room(std::size_t count) {
  const std::size_t wanted = requests_.size() + count;
  if (wanted <= requests_.capacity() && wanted <= posted_.capacity()) return;
  requests_.reserve(2 * wanted);
  posted_.reserve(2 * wanted);
}

void RequestPool::add(MPI_Request request, const Posted& posted) {
  requests_.push_back(request);
  posted_.push_back(posted);
}

std::span<const Posted> RequestPool::test() {
  completed_.clear();
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int rc = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                              indices_.data(), statuses_.data());
  if (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) check_mpi(rc, "MPI_Testsome");
  if (count <= 0) return {};
  for (int i = 0; i < count; ++i) {
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const Posted& posted = posted_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
    const int peer = posted.transfer == nullptr ? -1 : posted.transfer->peer;
    if (rc == MPI_ERR_IN_STATUS) check_mpi(status.MPI_ERROR, "a message or collective", peer);
    check_completed(posted, status);
    completed_.push_back(posted);
  }
  forget_completed();
  return completed_;
}

void RequestPool::forget_completed() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    requests_[kept] = requests_[i];
    posted_[kept++] = posted_[i];
  }
  requests_.resize(kept);
  posted_.resize(kept);
}

bool RequestPool::settle(const Patience& patience,
                         const std::function<void()>& while_waiting) noexcept {
  cancel_receives();
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const Access access = access_under_way();
    const bool written = access == Access::kWrites;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (!written && (access == Access::kNone || waited >= patience.sends)) break;
    if (waited >= patience.receives || !test_left_over()) return !written;
    std::this_thread::sleep_for(kSettleNap);
    while_waiting();
  }
  requests_.clear();
  posted_.clear();
  return true;
}

void RequestPool::cancel_receives() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Transfer* transfer = posted_[i].transfer;
    if (requests_[i] == MPI_REQUEST_NULL || transfer == nullptr) continue;
    // Legal for receives only. One whose message has begun to arrive continues to its end.
    if (!is_send(*transfer)) MPI_Cancel(&requests_[i]);
  }
}

RequestPool::Access RequestPool::access_of(const Posted& posted) noexcept {
  if (posted.transfer != nullptr) {
    return is_send(*posted.transfer) ? Access::kReads : Access::kWrites;
  }
  return posted.operation->memory == CollectiveMemory::kBorrowed ? Access::kWrites : Access::kNone;
}

RequestPool::Access RequestPool::access_under_way() const noexcept {
  Access most = Access::kNone;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] != MPI_REQUEST_NULL) most = std::max(most, access_of(posted_[i]));
  }
  return most;
}

// Sets the requests that have ended to null. False: MPI cannot tell.
bool RequestPool::test_left_over() noexcept {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL || access_of(posted_[i]) == Access::kNone) continue;
    int done = 0;
    const int rc = MPI_Test(&requests_[i], &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      requests_[i] = MPI_REQUEST_NULL;  // a failed one has ended, too
    } else if (rc != MPI_SUCCESS) {
      return false;
    }
  }
  return true;
}

}  // namespace winnow::comm
