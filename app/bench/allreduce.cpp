#include "app/bench/allreduce.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "app/bench/rows.h"
#include "app/plan/network.h"
#include "common/comm/agreement.h"
#include "common/comm/communicator.h"
#include "common/comm/network_probe.h"
#include "common/comm/schedule/choice.h"
#include "common/error.h"
#include "common/file.h"
#include "common/json.h"
#include "common/small_float.h"
#include "common/statistics.h"

namespace winnow::app {
namespace {

using comm::Communicator;

constexpr const char* kMpi = "MPI_Allreduce";

// One algorithm to measure, and its measurements.
struct Contender {
  std::string name;
  comm::ScheduleOptions options{};
  std::vector<comm::Transfer> transfers{};         // empty: MPI's own all-reduce, or
  std::optional<comm::HierarchicalParts> parts{};  // shared memory
  double predicted_s = 0;
  std::vector<double> seconds{};
  std::uint64_t wrong = 0;  // number of elements, over all ranks and rounds
};

// Small repeating whole numbers: their sums are exact in any order, in bf16 up to 256.
constexpr int kMostSmallRanks = 128;
std::size_t period(int ranks) { return static_cast<std::size_t>(std::clamp(256 / ranks, 2, 31)); }

std::size_t term(std::size_t i, int rank, int ranks) {
  return (i + static_cast<std::size_t>(rank)) % period(ranks);
}

// A whole number as an element, without rounding.
template <class T>
T whole(std::size_t value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(value);
  } else {
    return round_to<T>(static_cast<float>(value));
  }
}

void fill(const comm::Elements& elements, int rank, int ranks) {
  comm::visit(elements, [&]<class T>(std::span<T> buffer) {
    for (std::size_t i = 0; i < buffer.size(); ++i) buffer[i] = whole<T>(term(i, rank, ranks));
  });
}

std::uint64_t count_wrong(const comm::Elements& elements, int ranks) {
  return comm::visit(elements, [&]<class T>(std::span<T> buffer) {
    std::vector<T> sums;
    for (std::size_t i = 0; i < period(ranks); ++i) {
      std::size_t sum = 0;
      for (int rank = 0; rank < ranks; ++rank) sum += term(i, rank, ranks);
      sums.push_back(whole<T>(sum));
    }
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      wrong += buffer[i] == sums[i % sums.size()] ? 0 : 1;
    }
    return wrong;
  });
}

class AllReduceBench {
 public:
  AllReduceBench(const AllReduceRequest& options, Session& session)
      : o_(options),
        session_(session),
        comm_(session.comm),
        network_(comm::probe_network(comm_)),
        shares_memory_(machines() < comm_.size() && comm_.can_share_memory()) {}

  void run() {
    say_network();
    if (!o_.to.network.empty()) write();
    say(session_, fmt::format("{:>12} {:>11} {:>5}  {:<19} {:>11} {:>7} {:>7} {:>6} {:>11} {:>5}",
                              "size", "count", "type", "schedule", "time", "algbw", "busbw",
                              "bound", "predicted", "wrong"));
    say(session_,
        fmt::format("{:>12} {:>11} {:>5}  {:<19} {:>11} {:>7} {:>7} {:>6} {:>11} {:>5}", "(B)",
                    "(elements)", "", "", "(us)", "(GB/s)", "(GB/s)", "(%)", "(us)", ""));
    std::uint64_t wrong = 0;
    for (const std::string& name : o_.types) {
      type_ = comm::find_element_type(name);
      for (std::uint64_t bytes = o_.sizes.least_bytes; bytes <= o_.sizes.most_bytes;
           bytes = o_.sizes.after(bytes)) {
        wrong += measure(std::max<std::size_t>(1, bytes / element_bytes()));
      }
    }
    if (o_.to.json && comm_.rank() == 0) print();
    if (wrong > 0) throw Error(fmt::format("{} elements of the all-reduced sums are wrong", wrong));
  }

 private:
  // Writes the network in the format of winnow plan --network.
  void write() const {
    comm::on_root(comm_, [&] {
      write_file_durably(o_.to.network, network_text(network_, comm_.size(), machines()));
    });
    say(session_, fmt::format("network: {}", o_.to.network.string()));
  }

  void say_network() const {
    const auto price = [](const comm::LinkCost& link) {
      const double rate = link.seconds_per_byte;
      return fmt::format("{:.1f} us, {} and {:.2f} us a message", 1e6 * link.latency_s,
                         rate > 0 ? fmt::format("{:.3f} GB/s", 1e-9 / rate) : "no rate found",
                         1e6 * link.message_s);
    };
    say(session_, fmt::format("{} ranks on {} machine{}", comm_.size(), machines(),
                              machines() == 1 ? "" : "s"));
    if (machines() < comm_.size()) say(session_, "inside machines: " + price(network_.inside));
    if (machines() > 1) say(session_, "between machines: " + price(network_.between));
    say(session_, fmt::format("additions: {:.1f} GB/s", 1e-9 / network_.add_seconds_per_byte));
  }

  std::size_t element_bytes() const { return comm::info(type_).bytes; }

  bool sends_bf16() const { return o_.bf16 && type_ == comm::ElementType::kF32; }
  comm::Wire wire() const { return sends_bf16() ? comm::Wire::kBF16 : comm::Wire::kF32; }

  static bool is_ours(const Contender& one) { return one.parts || !one.transfers.empty(); }

  // The element type of the messages.
  comm::ElementType sent_type(const Contender& one) const {
    return sends_bf16() && is_ours(one) ? comm::ElementType::kBF16 : type_;
  }

  int machines() const { return comm_.placement().machines(); }

  comm::AllReduceShape shape(std::size_t count) const {
    return {.node_of = comm_.placement().node_of,
            .count = count,
            .element_bytes = sends_bf16() ? sizeof(BF16) : element_bytes()};
  }

  bool sums_over_memory() const { return shares_memory_ && type_ == comm::ElementType::kF32; }

  comm::ScheduleChoice named(std::string_view name, std::size_t count) const {
    const comm::Schedule& schedule = comm::find_schedule(name);
    return {&schedule, o_.grain,
            comm::predicted_seconds(schedule, o_.grain, shape(count), network_)};
  }

  // The choice that winnow train makes.
  comm::ScheduleChoice choose(std::size_t count) const {
    if (machines() == 1) {
      return {&comm::find_schedule(comm::schedule_inside(sums_over_memory())), {}, 0};
    }
    return comm::choose_schedule(shape(count), network_,
                                 shares_memory_ ? std::string_view{} : comm::kHierarchicalSchedule);
  }

  std::vector<Contender> contenders(std::size_t count) const {
    std::vector<Contender> all;
    for (const std::string& name : o_.schedules) {
      const bool chosen = name == comm::kAutoSchedule;
      const comm::ScheduleChoice choice = chosen ? choose(count) : named(name, count);
      all.push_back(
          {.name = chosen ? fmt::format("auto: {}", choice.schedule->name) : name,
           .options = choice.options,
           .transfers = choice.schedule->all_reduce(comm_.placement(), count, choice.options),
           .predicted_s = choice.seconds});
      if (choice.schedule->name != comm::kHierarchicalSchedule || !sums_over_memory()) continue;
      // As in winnow train. A schedule that was named is also measured by messages alone.
      if (!chosen) all.push_back({.name = name + "/memory", .options = choice.options});
      all.back().parts = comm::hierarchical_parts(comm_.placement(), count, choice.options);
    }
    // MPI has no sums of floats of 16 bits.
    if (type_ != comm::ElementType::kBF16 && type_ != comm::ElementType::kF16) {
      all.push_back({.name = kMpi});
    }
    return all;
  }

  // Measures all contenders. Returns the number of wrong elements.
  std::uint64_t measure(std::size_t count) {
    std::vector<Contender> all = contenders(count);
    std::vector<std::byte> memory(count * element_bytes());
    const comm::Elements buffer(memory, type_);
    for (int round = -o_.rounds.warmup; round < o_.rounds.measured; ++round) {
      comm::on_all(comm_, [&] { end_if_stopped(session_.stop); });
      for (Contender& one : all) {
        const double seconds = seconds_of_one(one, buffer);
        if (round >= 0) one.seconds.push_back(seconds);
      }
    }
    std::uint64_t wrong = 0;
    for (const Contender& one : all) {
      wrong += one.wrong;
      add_row(one, count);
    }
    return wrong;
  }

  // Seconds of the slowest rank, after a barrier.
  double seconds_of_one(Contender& one, const comm::Elements& buffer) {
    fill(buffer, comm_.rank(), comm_.size());
    comm_.barrier();
    const double seconds = seconds_of([&] {
      if (one.parts) {
        auto* const floats = reinterpret_cast<float*>(buffer.bytes.data());
        comm_.start_all_reduce(std::span(floats, buffer.size()), *one.parts, wire()).wait();
      } else if (one.transfers.empty()) {
        comm_.library_all_reduce(buffer);
      } else {
        comm_.start_all_reduce(buffer, one.transfers, wire()).wait();
      }
    });
    const std::vector<std::uint64_t> row{static_cast<std::uint64_t>(1e9 * seconds),
                                         count_wrong(buffer, comm_.size())};
    const std::vector<std::uint64_t> rows = comm::all_gather(comm_, row);
    std::uint64_t slowest = 0;
    for (std::size_t i = 0; i < rows.size(); i += 2) {
      slowest = std::max(slowest, rows[i]);
      one.wrong += rows[i + 1];
    }
    return 1e-9 * static_cast<double>(slowest);
  }

  void add_row(const Contender& one, std::size_t count) {
    const double seconds = median(one.seconds);
    const std::size_t bytes = count * element_bytes();
    const std::string_view type = comm::info(type_).name;
    const double algbw = 1e-9 * static_cast<double>(bytes) / seconds;
    const double busbw = algbw * 2 * (comm_.size() - 1) / comm_.size();
    const bool ours = is_ours(one);
    comm::AllReduceShape sent = shape(count);
    if (!ours) sent.element_bytes = element_bytes();
    const double share = comm::least_seconds(sent, network_) / seconds;
    say(session_,
        fmt::format("{:>12} {:>11} {:>5}  {:<19} {:>11.1f} {:>7.3f} {:>7.3f} {:>6.1f} {:>11} {:>5}",
                    bytes, count, type, one.name, 1e6 * seconds, algbw, busbw, 100 * share,
                    one.predicted_s > 0 ? fmt::format("{:.1f}", 1e6 * one.predicted_s) : "-",
                    one.wrong));
    Json row{{"bytes", bytes},
             {"count", count},
             {"type", type},
             {"messages", comm::info(sent_type(one)).name},
             {"schedule", one.name},
             {"seconds", seconds},
             {"algbw", algbw},
             {"busbw", busbw},
             {"share_of_bound", share},
             {"wrong", one.wrong}};
    if (ours) {
      if (one.predicted_s > 0) row["predicted_seconds"] = one.predicted_s;
      row["colors"] = one.options.colors;
      row["segment_bytes"] = one.options.segment_elements * sent.element_bytes;
    }
    rows_.push_back(std::move(row));
  }

  void print() const {
    const Json json{{"schema", "winnow.allreduce/1"},
                    {"ranks", comm_.size()},
                    {"machines", machines()},
                    {"network",
                     {{"inside", to_json(network_.inside)},
                      {"between", to_json(network_.between)},
                      {"add_seconds_per_byte", network_.add_seconds_per_byte}}},
                    {"rows", rows_}};
    app::print(session_, fmt::format("{}\n", json.dump()));
  }

  const AllReduceRequest& o_;
  Session& session_;
  Communicator& comm_;
  const comm::NetworkModel network_;
  const bool shares_memory_;
  comm::ElementType type_ = comm::ElementType::kF32;  // the type that is being measured
  Json rows_ = Json::array();
};

}  // namespace

void bench_allreduce(AllReduceRequest o, Session& session) {
  comm::on_all(session.comm, [&] {
    if (session.comm.size() < 2) {
      throw UsageError("an all-reduce needs at least 2 ranks; start this under mpirun");
    }
    for (const std::string& name : o.types) {
      const bool small = comm::info(comm::find_element_type(name)).bytes == sizeof(BF16);
      if ((small || o.bf16) && session.comm.size() > kMostSmallRanks) {
        throw UsageError("16-bit types can be checked on at most " +
                         std::to_string(kMostSmallRanks) +
                         " ranks, because 16 bits do not hold larger sums exactly; measure f32");
      }
    }
    if (o.sizes.most_bytes < o.sizes.least_bytes) {
      throw UsageError("--max-bytes is less than --min-bytes; give a larger one");
    }
    for (const std::string& name : o.schedules) {
      if (name != comm::kAutoSchedule) comm::find_schedule(name);
    }
    if (o.schedules.empty()) {
      for (const comm::Schedule& schedule : comm::schedules()) {
        o.schedules.emplace_back(schedule.name);
      }
      o.schedules.emplace_back(comm::kAutoSchedule);
    }
  });
  session.comm.use_checksums(o.checksums);
  AllReduceBench(o, session).run();
}

}  // namespace winnow::app
