#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "common/comm/mpi/check_mpi_internal.h"
#include "common/comm/mpi/progress_engine_internal.h"
#include "common/error.h"
#include "common/thread_name.h"

namespace winnow::comm {

namespace {

// Number of active chains of data on a rank: about 1 MiB of messages of kExchangeOptions. While
// other threads compute, this must last until the engine's thread runs again; gradients that begin
// wait for it.
constexpr std::size_t kDataWindow = 32;

// Gradients that did not move during this much sleep are waiting for a late rank. Equals the time
// of a segment on a slow link.
constexpr std::chrono::milliseconds kPatience{10};

std::string text_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown error";
  }
}

// A transfer must be inside its buffer, and fit the C ints of MPI.
void check_transfers(const Operation& operation, std::size_t count) {
  for (const Transfer& transfer : operation.transfers) {
    if (message_of(operation, transfer).count >
        static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw Error("a collective has a message of " + std::to_string(transfer.count) +
                  " elements, more than MPI can send at once; choose smaller segments");
    }
    if (transfer.begin > count || transfer.count > count - transfer.begin) {
      throw Error("an all-reduce of " + std::to_string(count) +
                  " elements has a transfer outside of them," + " of elements [" +
                  std::to_string(transfer.begin) + ", " +
                  std::to_string(transfer.begin + transfer.count) + ")");
    }
  }
}

AllReduceKind kind_of(const Collective& what, bool checksums) {
  return {what.buffer.size(), what.buffer.type,    what.reduction, what.wire,
          what.task,          checksums ? 1U : 0U, what.group};
}

[[noreturn]] void end_all_ranks(int exit_code) noexcept {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

[[noreturn]] void give_up(const LastWords& last_words, const std::exception_ptr& why) noexcept {
  constexpr int kExitCode = 1;
  if (last_words) {
    last_words(text_of(why) +
               "; another rank has begun to send into this one's memory and does not go on, so all "
               "ranks are ended");
  }
  end_all_ranks(kExitCode);
}

}  // namespace

ProgressEngine::ProgressEngine(const Channels& channels, int tag_limit, RankNames names,
                               LastWords last_words, Patience patience)
    : last_words_(std::move(last_words)),
      patience_(patience),
      announcements_(channels.gradients, tag_limit, std::move(names)),
      gradients_(channels.gradients, tag_limit - 1, kChainsAtOnce, &MPI_Isend, requests_,
                 announcements_),
      shares_(channels.shares, tag_limit, kChainsAtOnce, &MPI_Isend, requests_, announcements_),
      // A send of data completes when its receiver has begun to receive, however small it is.
      // Otherwise data would pile up at a rank that is busy with gradients.
      data_(channels.data, tag_limit, kDataWindow, &MPI_Issend, requests_, announcements_),
      control_(channels.control, tag_limit, 0, &MPI_Isend, requests_, announcements_) {
  thread_ = std::thread([this] { run(); });
}

ProgressEngine::~ProgressEngine() { stop(/*discard=*/false); }

std::shared_future<void> ProgressEngine::submit(const Collective& what,
                                                std::span<const Transfer> transfers, SumKind kind) {
  auto operation = std::make_unique<Operation>(kind.share ? shares_ : gradients_);
  operation->checksums = kind.checksums;
  operation->out = operation->in = what.buffer.bytes.data();
  operation->combine = combine_of(what);
  operation->kind = kind_of(what, kind.checksums);
  operation->transfers = transfers;
  check_transfers(*operation, what.buffer.size());
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::submit(std::span<const std::byte> out,
                                                std::span<std::byte> in,
                                                std::vector<Transfer> transfers,
                                                StartCollective start, std::function<void()> agreed,
                                                bool checksums) {
  auto operation = std::make_unique<Operation>(data_);
  operation->checksums = checksums;
  operation->start = std::move(start);
  operation->agreed = std::move(agreed);
  operation->out = out.data();
  operation->in = in.data();
  operation->combine = none();
  operation->own = std::move(transfers);
  operation->transfers = operation->own;
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::submit(StartCollective start, CollectiveMemory memory,
                                                std::function<void()> agreed) {
  auto operation = std::make_unique<Operation>(control_);
  operation->start = std::move(start);
  operation->memory = memory;
  operation->agreed = std::move(agreed);
  return enqueue(std::move(operation));
}

std::shared_future<void> ProgressEngine::enqueue(std::unique_ptr<Operation> operation) {
  std::shared_future<void> done = operation->done.get_future().share();
  inbox_.put(std::move(operation));
  return done;
}

void ProgressEngine::stop(bool discard) noexcept {
  inbox_.stop(discard);
  if (thread_.joinable()) thread_.join();
}

void ProgressEngine::abort(int exit_code) noexcept {
  inbox_.abort(exit_code);
  // The engine's thread ends the process. If that is stuck inside MPI, this thread does. The
  // launcher ends the other ranks when one has left without finalising.
  std::this_thread::sleep_for(std::chrono::seconds(10));
  std::_Exit(exit_code);
}

void ProgressEngine::run() noexcept {
  name_thread("collectives");
  nap_precisely();
  for (;;) {
    try {
      if (!take_submissions()) return failure_ ? void() : announcements_.finish();
      if (failure_) {
        fail(failure_);
      } else {
        start_what_fits();
        complete_empty();
        poll();
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
}

bool ProgressEngine::take_submissions() {
  std::optional<Inbox::Orders> orders;
  while (!(orders = inbox_.take(running_))) {
    // Calls MPI now and then even if idle: an MPI library may still owe a peer the last part of a
    // message whose request is complete here.
    if (!failure_) announcements_.look();
  }
  if (orders->abort_code) end_all_ranks(*orders->abort_code);
  if (!orders->stop) return true;
  if (orders->discard && !running_.empty()) {
    fail(std::make_exception_ptr(
        SystemError("the communicator was destroyed before this operation ended")));
    return false;
  }
  return !running_.empty();
}

void ProgressEngine::start_what_fits() {
  bool data_wait = gradients_move();
  // Starting a collective or a chain never adds to running_.
  for (const std::unique_ptr<Operation>& operation : running_) {
    Channel& channel = operation->channel;
    if (&channel == &gradients_ && operation->number == 0) channel.announce(*operation);
    if (operation->start && !operation->posted) channel.start_collective(*operation);
    if (&channel == &data_) {
      data_wait = data_wait || operation->opening;  // and those after it: chains run in order
      if (data_wait) continue;
    }
    if (channel.start_chains(*operation) && is_sum(channel)) gradients_rest_ = {};
  }
}

// All-reduces without elements are counted like others: another rank may have some.
void ProgressEngine::complete_empty() {
  for (std::size_t i = 0; i < running_.size();) {
    const bool empty = running_[i]->number > 0 && running_[i]->transfers.empty();
    empty ? complete(*running_[i]) : static_cast<void>(++i);
  }
}

bool ProgressEngine::gradients_move() const {
  return gradients_rest_ < kPatience &&
         std::ranges::any_of(running_,
                             [this](const auto& operation) { return is_sum(operation->channel); });
}

std::span<const Posted> ProgressEngine::test() {
  try {
    return requests_.test();
  } catch (const SystemError&) {
    announcements_.look();  // may know better what is wrong with a message
    throw;
  }
}

void ProgressEngine::poll() {
  if (requests_.empty()) return;
  const std::span<const Posted> completed = test();
  if (completed.empty()) {
    const std::chrono::microseconds slept = pace_.rest();
    gradients_rest_ += slept;
    if (slept.count() > 0) announcements_.look();
    return;
  }
  pace_.found();
  for (const Posted& posted : completed) {
    Channel& channel = posted.operation->channel;
    if (is_sum(channel)) gradients_rest_ = {};
    const bool finished = channel.finish(posted);
    adding_ = gradients_.adding() + shares_.adding();  // before the operation is reported as done
    if (finished) complete(*posted.operation);
  }
}

void ProgressEngine::complete(Operation& operation) {
  const auto at = std::ranges::find(running_, &operation, &std::unique_ptr<Operation>::get);
  const std::unique_ptr<Operation> owned = std::move(*at);
  running_.erase(at);
  if (owned->number > 0) announcements_.end(owned->kind.group, owned->number);
  owned->done.set_value();
}

void ProgressEngine::fail(const std::exception_ptr& why) noexcept {
  failure_ = why;
  broken_ = true;
  const auto abort_if_asked = [this] {
    if (const std::optional<int> exit_code = inbox_.abort_code()) end_all_ranks(*exit_code);
  };
  if (!requests_.settle(patience_, abort_if_asked)) give_up(last_words_, why);
  for (std::unique_ptr<Operation>& operation : running_) {
    operation->done.set_exception(why);
    // Memory that a collective may still write into is kept for the life of the process.
    if (operation->opening) static_cast<void>(operation.release());
  }
  running_.clear();
}

}  // namespace winnow::comm
