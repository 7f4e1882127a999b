#include "train/backend/lower/value_places.h"

#include "common/error.h"
#include "train/graph/arena_layout.h"

namespace winnow::train {
namespace {

Element element_of(DType compute) {
  if (compute == DType::kF16) return Element::kF16;
  return compute == DType::kBF16 ? Element::kBf16 : Element::kF32;
}

}  // namespace

ValuePlaces::ValuePlaces(const Graph& graph, DType compute, Outside outside, Slots& slots)
    : graph_(graph),
      compute_(element_of(compute)),
      slots_(slots),
      outside_(graph.values.size()),
      homes_(graph.values.size()),
      producers_(graph.values.size(), nullptr) {
  const ArenaLayout layout = lay_out_arena(graph, compute);
  slots_.reserve_arena(layout.arena_bytes);
  find_outside(outside);
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const bool in_arena = layout.offsets[i] != ArenaLayout::kOutside;
    place(static_cast<ValueId>(i), in_arena ? std::optional(layout.offsets[i]) : std::nullopt);
  }
}

bool ValuePlaces::is_weight(ValueId id) const {
  const ValueKind kind = value(id).kind;
  return kind == ValueKind::kParameter || kind == ValueKind::kBuffer;
}

std::size_t ValuePlaces::outside_bytes(ValueId id) const {
  return position(count(id)) * (value(id).storage == Storage::kU8 ? 1 : sizeof(float));
}

void ValuePlaces::find_outside(Outside outside) {
  const auto add = [&](ValueId id) {
    std::optional<Slot>& slot = outside_[position(id)];
    if (slot) return;
    const bool is_bound = outside == Outside::kUsed || is_weight(id);
    slot = is_bound ? slots_.bound() : slots_.own(outside_bytes(id));
  };
  for (const Node& node : graph_.nodes) {
    for (const ValueId id : node.inputs) {
      if (value(id).kind != ValueKind::kComputed) add(id);
    }
    for (const ValueId id : node.outputs) producers_[position(id)] = &node;
  }
  for (const Output& output : graph_.outputs) {
    if (value(output.value).kind != ValueKind::kComputed) {
      throw Error("output '" + value(output.value).name + "' is not computed by the graph");
    }
    add(output.value);
  }
}

void ValuePlaces::place(ValueId id, std::optional<std::size_t> arena_offset) {
  const Value& v = value(id);
  Home& home = homes_[position(id)];
  const bool computed = v.storage == Storage::kCompute && !is_weight(id);
  home.element = computed ? compute_ : Element::kF32;
  const std::size_t each = v.storage == Storage::kU8 ? 1 : bytes_of(home.element);
  const std::size_t bytes = position(count(id)) * each;
  if (outside(id)) {
    home.slot = home.element != Element::kF32 ? slots_.own(bytes) : *outside(id);
  } else if (v.kind == ValueKind::kComputed) {
    home.slot = arena_offset ? slots_.arena(*arena_offset) : slots_.own(bytes);
  }
}

ValuePlaces::Slot ValuePlaces::read(ValueId id, Element wanted) {
  Home& home = homes_[position(id)];
  const bool is_input = outside(id) && value(id).kind == ValueKind::kInput;
  if (is_input && home.element != Element::kF32) {
    if (wanted == Element::kF32) return *outside(id);
    if (!home.is_loaded) {
      convert_before({*outside(id), Element::kF32, home.slot, home.element, count(id)});
      home.is_loaded = true;
    }
    return home.slot;
  }
  if (home.element == wanted) return home.slot;
  const Slot copy = scratch(id, wanted);
  convert_before({home.slot, home.element, copy, wanted, count(id)});
  return copy;
}

ValuePlaces::Slot ValuePlaces::write(ValueId id, Element wanted) {
  const Home& home = homes_[position(id)];
  Slot to = home.slot;
  if (home.element != wanted) {
    to = scratch(id, wanted);
    convert_after({to, wanted, home.slot, home.element, count(id)});
  }
  if (outside(id) && *outside(id) != home.slot) {
    convert_after({home.slot, home.element, *outside(id), Element::kF32, count(id)});
  }
  return to;
}

ValuePlaces::Slot ValuePlaces::scratch(ValueId id, Element element) {
  return slots_.scratch(position(count(id)) * bytes_of(element));
}

}  // namespace winnow::train
