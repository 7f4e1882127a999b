#include "app/bench/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "app/bench/rows.h"
#include "app/words.h"
#include "common/comm/agreement.h"
#include "common/comm/communicator.h"
#include "common/error.h"
#include "common/statistics.h"

namespace winnow::app {
namespace {

using comm::Communicator;
using comm::ScheduleOptions;

// One rank's side of an exchange: the bytes to and from each other rank.
struct Parts {
  template <class BytesBetween>
  Parts(const Communicator& comm, const BytesBetween& bytes_between) {
    for (int peer = 0; peer < comm.size(); ++peer) {
      const bool kept = peer == comm.rank();
      out_offsets.push_back(out_offsets.back() + (kept ? 0 : bytes_between(comm.rank(), peer)));
      in_offsets.push_back(in_offsets.back() + (kept ? 0 : bytes_between(peer, comm.rank())));
    }
    out.resize(out_offsets.back(), std::byte{1});
    in.resize(in_offsets.back());
  }
  std::vector<std::size_t> out_offsets{0};
  std::vector<std::size_t> in_offsets{0};
  std::vector<std::byte> out;
  std::vector<std::byte> in;
};

class AllToAllBench {
 public:
  AllToAllBench(const ExchangeRequest& options, Session& session)
      : o_(options),
        session_(session),
        comm_(session.comm),
        segments_{.segment_elements = std::max<std::size_t>(1, o_.segment_bytes / kElementBytes)},
        part_bytes_(std::max<std::uint64_t>(1, o_.bytes / kElementBytes / others()) *
                    kElementBytes),
        even_(comm_, [this](int, int) { return part_bytes_; }) {}

  void run() {
    say(session_, fmt::format("{} ranks, machines: {}; each rank sends {} bytes to every other "
                              "rank, in messages of {} bytes",
                              comm_.size(), std::ranges::max(comm_.placement().node_of) + 1,
                              grouped(part_bytes_), grouped(segments_.segment_elements * 4)));
    const double sent = static_cast<double>(part_bytes_ * others());
    std::vector<double> ours, mpi, pair_ours, pair_mpi;
    for (int round = 0; round < o_.rounds; ++round) {
      comm::on_all(comm_, [&] { end_if_stopped(session_.stop); });
      ours.push_back(megabytes_per_second(sent, [&] { exchange(even_); }));
      mpi.push_back(megabytes_per_second(sent, [&] { exchange_by_mpi(even_); }));
      for (int from = 0; from < comm_.size(); ++from) {
        Parts one_way(comm_, [&](int sender, int receiver) {
          return sender == from && receiver == (from + 1) % comm_.size() ? part_bytes_ : 0;
        });
        const auto bytes = static_cast<double>(part_bytes_);
        pair_ours.push_back(megabytes_per_second(bytes, [&] { exchange(one_way); }));
        pair_mpi.push_back(megabytes_per_second(bytes, [&] { exchange_by_mpi(one_way); }));
      }
      say(session_,
          fmt::format("round {}: {:.1f} MB/s from each rank (MPI_Ialltoallv: {:.1f}); if one rank "
                      "alone sends to the next: {:.1f} MB/s (MPI_Ialltoallv: {:.1f})",
                      round + 1, ours.back(), mpi.back(), pair_ours.back(), pair_mpi.back()));
    }
    const double one_way = std::max(median(pair_ours), median(pair_mpi));
    std::vector<BenchRow> rows{{"alltoall", median(ours), one_way, "MB/s"},
                               {"alltoall, of MPI_Ialltoallv", median(ours), median(mpi), "MB/s"}};
    if (o_.gradient_bytes > 0) rows.push_back(beside_gradients());
    tell_rows(o_.json, session_, rows);
  }

 private:
  std::uint64_t others() const { return static_cast<std::uint64_t>(comm_.size()) - 1; }

  void exchange(Parts& parts) {
    comm_.start_all_to_all(parts.out, parts.out_offsets, parts.in, parts.in_offsets, segments_)
        .wait();
  }

  void exchange_by_mpi(Parts& parts) {
    comm_.all_to_all(parts.out, parts.out_offsets, parts.in, parts.in_offsets);
  }

  // Time is taken from a common begin until the last rank has finished.
  double megabytes_per_second(double bytes, const auto& work) {
    comm_.barrier();
    return 1e-6 * bytes / seconds_of([&] {
             work();
             comm_.barrier();
           });
  }

  // Median duration of an all-reduce. Pauses between them are as long as the first one took.
  double seconds_of_all_reduces(std::vector<float>& gradient) {
    const std::vector<comm::Transfer> transfers =
        comm::find_schedule("multicolor").all_reduce(comm_.placement(), gradient.size(), {});
    std::vector<double> seconds;
    for (int i = 0; i < 2 * o_.rounds; ++i) {
      comm_.barrier();
      seconds.push_back(seconds_of([&] { comm_.start_all_reduce(gradient, transfers).wait(); }));
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds.front()));
    }
    return median(seconds);
  }

  // Exchanges repeatedly until rank 0 marks one as the last. Returns how many there were.
  int exchange_until(const std::atomic<bool>& enough) {
    const bool leads = comm_.rank() == 0;
    int count = 0;
    for (bool last = false; !last; ++count) {
      last = leads && enough;
      const std::byte word{last};
      for (std::size_t peer = 1; leads && peer <= others(); ++peer) {
        even_.out[even_.out_offsets[peer]] = word;
      }
      exchange(even_);
      if (!leads) last = even_.in[even_.in_offsets[0]] == std::byte{1};
    }
    return count;
  }

  BenchRow beside_gradients() {
    std::vector<float> gradient(std::max<std::size_t>(1, o_.gradient_bytes / sizeof(float)));
    const double alone_s = seconds_of_all_reduces(gradient);
    std::atomic<bool> enough{false};
    std::future<int> exchanges =
        std::async(std::launch::async, [&] { return exchange_until(enough); });
    double beside_s = 0;
    int count = 0;
    const double passed_s = seconds_of([&] {
      beside_s = seconds_of_all_reduces(gradient);
      enough = true;
      count = exchanges.get();
    });
    const double moved = static_cast<double>(part_bytes_ * others()) * count;
    say(session_, fmt::format("an all-reduce of {} bytes takes {:.1f} ms alone, {:.1f} ms during "
                              "exchanges, which then transfer {:.1f} MB/s",
                              grouped(gradient.size() * sizeof(float)), 1e3 * alone_s,
                              1e3 * beside_s, 1e-6 * moved / passed_s));
    const double megabytes = 1e-6 * static_cast<double>(gradient.size() * sizeof(float));
    return {"allreduce beside alltoall", megabytes / beside_s, megabytes / alone_s, "MB/s"};
  }

  const ExchangeRequest& o_;
  Session& session_;
  Communicator& comm_;
  const ScheduleOptions segments_;
  const std::uint64_t part_bytes_;
  Parts even_;
};

}  // namespace

void bench_alltoall(const ExchangeRequest& options, Session& session) {
  comm::on_all(session.comm, [&] {
    if (session.comm.size() > 1) return;
    throw UsageError("an exchange needs at least 2 ranks; start this under mpirun");
  });
  AllToAllBench(options, session).run();
}

}  // namespace winnow::app
