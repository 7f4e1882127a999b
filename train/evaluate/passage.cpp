#include "train/evaluate/passage.h"

#include <algorithm>

#include "common/error.h"
#include "train/step/relay.h"

namespace winnow::train {
namespace {

std::size_t elements_of(const Graph& graph, ValueId id) {
  return static_cast<std::size_t>(element_count(graph.value(id).shape));
}

}  // namespace

Passage::Passage(const Graph& graph, std::size_t lanes, comm::Wire wire, comm::Communicator& comm)
    : wire_(wire), comm_(comm), lanes_(lanes) {
  const ValueId given = graph.find("pixels");
  const auto border = std::ranges::find(graph.outputs, OutputKind::kValue, &Output::kind);
  for (Lane& lane : lanes_) {
    if (graph.value(given).storage == Storage::kCompute) {
      lane.in.values.resize(elements_of(graph, given));
    }
    if (border != graph.outputs.end()) lane.out.values.resize(elements_of(graph, border->value));
  }
}

std::span<float> Passage::receive(std::size_t lane, int from, std::int64_t number) {
  Way& way = lanes_[lane].in;
  start(way, {comm::Transfer::Kind::kReceiveCopy, from, 0, 0, 0, way.values.size()},
        group_of_link(from, comm_.rank(), comm_.size()), number, next_receive_);
  way.pending.wait();
  return way.values;
}

void Passage::send(std::size_t lane, int to, std::int64_t number, std::span<const float> values) {
  Way& way = lanes_[lane].out;
  way.pending.wait();
  std::ranges::copy(values, way.values.begin());
  start(way, {comm::Transfer::Kind::kSend, to, 0, 0, 0, way.values.size()},
        group_of_link(comm_.rank(), to, comm_.size()), number, next_send_);
}

void Passage::start(Way& way, const comm::Transfer& transfer, std::uint32_t group,
                    std::int64_t number, std::int64_t& next) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return gave_up_ || next == number; });
  if (gave_up_) throw Error("another lane has failed");
  way.transfers = {transfer};
  way.pending = comm_.start({.buffer = std::span(way.values),
                             .wire = wire_,
                             .task = comm::Task::kHandOver,
                             .group = group},
                            way.transfers);
  ++next;
  changed_.notify_all();
}

void Passage::give_up() noexcept {
  const std::lock_guard lock(mutex_);
  gave_up_ = true;
  changed_.notify_all();
}

}  // namespace winnow::train
