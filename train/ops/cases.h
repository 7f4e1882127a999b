#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/rng.h"
#include "train/graph/graph.h"

namespace winnow::train {

// A test case: one operation with all its inputs. Finite differences check the reference on these
// cases; every backend is compared with the reference on the same ones.
struct OpCase {
  std::string name;                               // unique, an identifier: "conv2d_odd_width"
  Graph graph;                                    // one node
  std::map<ValueId, std::vector<double>> inputs;  // all inputs, in memory order
  std::vector<ValueId> outputs;  // values to compare; also graph outputs, as kValue
};

// All values of a case, computed by the reference.
std::vector<std::vector<double>> computed_values(const OpCase& made);

// Each number rounded to float and back.
std::vector<double> as_f32(std::vector<double> numbers);

// Builds a case. Its random numbers depend on `place` alone.
// Inputs   Multiples of 1/128 in [-1, 1], and so exact in bf16.
// Derived  Exact in f32.
class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t place) : rng_(1, 0, place, RandomUse::kTest) {}

  ValueId leaf(std::string name, Shape shape, std::vector<double> numbers,
               ValueKind kind = ValueKind::kInput, Storage storage = Storage::kF32);
  ValueId data(std::string name, const Shape& shape);       // an input with random numbers
  ValueId parameter(std::string name, const Shape& shape);  // a parameter with random numbers

  std::vector<double> signed_numbers(const Shape& shape);
  std::vector<double> positive_numbers(const Shape& shape);  // in [0.5, 1.5]
  std::vector<double> whole_numbers(const Shape& shape, std::uint32_t below);

  OpCase finish(std::string name, const Operation& op, std::vector<ValueId> inputs,
                Attributes attributes) &&;

 private:
  OpCase made_;
  CounterRng rng_;
};

class CaseTable {
 public:
  CaseMaker begin() const { return CaseMaker(cases_.size()); }
  // The returned reference is valid until the next call.
  const OpCase& keep(OpCase made);
  std::vector<OpCase> take() && { return std::move(cases_); }

 private:
  std::vector<OpCase> cases_;
};

}  // namespace winnow::train
