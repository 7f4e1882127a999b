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
  kUsed,    // kernels read and write it directly
  kCopied,  // copied to and from the program's own memory
};

struct Conversion {
  Slots::Id from;
  Element from_type;
  Slots::Id to;
  Element to_type;
  std::int64_t count;
};

// Where the values of a graph are stored, and how the node that is being compiled accesses them.
// Every value has a home of the type it is computed with. If it is also read or written outside, it
// has a slot of f32 (or bytes) there, which is also its home if the types agree.
class ValuePlaces {
 public:
  using Slot = Slots::Id;

  // Reserves the arena of `graph` in `slots`. Both must outlive this.
  ValuePlaces(const Graph& graph, DType compute, Outside outside, Slots& slots);
  virtual ~ValuePlaces() = default;

  const Graph& graph() const { return graph_; }
  const Value& value(ValueId id) const { return graph_.value(id); }
  std::int64_t count(ValueId id) const { return element_count(value(id).shape); }
  bool is_weight(ValueId id) const;  // a parameter or a buffer
  Element compute() const { return compute_; }
  Slots& slots() { return slots_; }
  // The node whose output it is; nullptr for values given from outside.
  const Node* producer(ValueId id) const { return producers_[position(id)]; }

  Element element(ValueId id) const { return homes_[position(id)].element; }
  Slot home(ValueId id) const { return homes_[position(id)].slot; }
  // For inputs and parameters that nodes read, and for outputs.
  const std::optional<Slot>& outside(ValueId id) const { return outside_[position(id)]; }
  std::size_t outside_bytes(ValueId id) const;

  // The slot from which this node can read `id` as `wanted`.
  Slot read(ValueId id, Element wanted);
  // The slot to which this node may write `id` as `wanted`. Conversions, and copies for outside,
  // follow the node.
  Slot write(ValueId id, Element wanted);
  Slot scratch(ValueId id, Element element);

 private:
  struct Home {
    Slot slot = 0;
    Element element = Element::kF32;  // unused for u8 values
    bool is_loaded = false;  // for inputs that are not f32: the first reader has made the copy
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
