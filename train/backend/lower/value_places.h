#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/backend/lower/kernel_arguments.h"
#include "train/backend/slots.h"
#include "train/graph/graph.h"

namespace winnow::train {

// How a program uses memory that the caller binds to inputs and outputs.
enum class Outside : std::uint8_t {
  kUsed,    // kernels read and write the caller's memory directly
  kCopied,  // the caller's memory is copied to and from the program's own
};

struct Conversion {
  Slots::Id from;
  Element from_type;
  Slots::Id to;
  Element to_type;
  std::int64_t count;
};

// Decides where the values of a graph are stored, and how the node that is being compiled accesses
// them.
// Home     Every value has one home: a place in the program's memory, of the type it is computed
//          with.
// Outside  A value that is bound to the caller's memory also has a slot (address) there, of f32 or
//          bytes. If the types agree, this slot is the home.
class ValuePlaces {
 public:
  using Slot = Slots::Id;

  // Reserves memory for the computed values of `graph` in `slots`. Both must outlive this object.
  ValuePlaces(const Graph& graph, DType compute, Outside outside, Slots& slots);
  virtual ~ValuePlaces() = default;

  const Graph& graph() const { return graph_; }
  const Value& value(ValueId id) const { return graph_.value(id); }
  std::int64_t count(ValueId id) const { return element_count(value(id).shape); }
  bool is_weight(ValueId id) const;  // whether the value is a parameter or a buffer
  Element compute() const { return compute_; }
  Slots& slots() { return slots_; }
  // The node that computes the value; nullptr for values that the caller binds.
  const Node* producer(ValueId id) const { return producers_[position(id)]; }

  Element element(ValueId id) const { return homes_[position(id)].element; }
  Slot home(ValueId id) const { return homes_[position(id)].slot; }
  // The slot (memory) of the value outside the program, in the caller's memory. Exists for inputs
  // and parameters that nodes read, and for outputs.
  const std::optional<Slot>& outside(ValueId id) const { return outside_[position(id)]; }
  std::size_t outside_bytes(ValueId id) const;

  // Returns a slot (memory) from which the node that is being compiled can read value `id` as type
  // `wanted`.
  Slot read(ValueId id, Element wanted);
  // Returns a slot (memory) to which the node that is being compiled may write value `id` as type
  // `wanted`. Conversions, and copies to the caller's memory, are emitted after the node.
  Slot write(ValueId id, Element wanted);
  Slot scratch(ValueId id, Element element);

 private:
  struct Home {
    Slot slot = 0;
    Element element = Element::kF32;  // type of the stored elements; unused for u8 values
    // Whether an input that is not f32 was already converted by its first reader.
    bool is_loaded = false;
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
