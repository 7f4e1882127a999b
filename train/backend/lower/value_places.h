#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/slots.h"
#include "train/graph/graph.h"

namespace winnow::train {

// What a program does with memory that the caller binds to inputs and outputs.
enum class Outside : std::uint8_t {
  kUsed,    // kernels read and write it
  kCopied,  // it is copied to and from memory of the program's own
};

struct Conversion {
  Slots::Id from;
  Element from_type;
  Slots::Id to;
  Element to_type;
  std::int64_t count;
};

// Where the values of a graph live, and how the node that is being compiled gets at them.
//
// A value has a home of the type it is computed with. One that is read or written outside as well
// has a slot of f32 (or bytes) there, which is its home too when the types agree.
class ValuePlaces {
 public:
  using Slot = Slots::Id;

  // Reserves the arena of `graph` in `slots`. Both outlive this.
  ValuePlaces(const Graph& graph, DType compute, Outside outside, Slots& slots);
  virtual ~ValuePlaces() = default;

  const Graph& graph() const { return graph_; }
  const Value& value(ValueId id) const { return graph_.value(id); }
  std::int64_t count(ValueId id) const { return element_count(value(id).shape); }
  bool is_weight(ValueId id) const;  // a parameter or a buffer
  Element compute() const { return compute_; }
  Slots& slots() { return slots_; }
  // Null: the node whose output it is, of values that are given from outside.
  const Node* producer(ValueId id) const { return producers_[position(id)]; }

  Element element(ValueId id) const { return homes_[position(id)].element; }
  Slot home(ValueId id) const { return homes_[position(id)].slot; }
  // Of inputs and parameters that nodes read, and of outputs.
  const std::optional<Slot>& outside(ValueId id) const { return outside_[position(id)]; }
  std::size_t outside_bytes(ValueId id) const;

  // Where `id` can be read as `wanted` when this node runs.
  Slot read(ValueId id, Element wanted);
  // Where this node may write `id` as `wanted`. Conversions and copies for outside follow the node.
  Slot write(ValueId id, Element wanted);
  Slot scratch(ValueId id, Element element);

 private:
  struct Home {
    Slot slot = 0;
    Element element = Element::kF32;  // not used of u8 values
    bool is_loaded = false;           // inputs that are not f32: the first reader made the copy
  };

  virtual void convert_before(const Conversion& conversion) = 0;
  virtual void convert_after(const Conversion& conversion) = 0;

  static std::size_t position(std::int64_t i) { return static_cast<std::size_t>(i); }
  void find_outside(Outside outside);
  void place(ValueId id, std::optional<std::size_t> arena_offset);

  const Graph& graph_;
  const Element compute_;
  Slots& slots_;
  std::vector<std::optional<Slot>> outside_;
  std::vector<Home> homes_;
  std::vector<const Node*> producers_;
};

}  // namespace winnow::train
