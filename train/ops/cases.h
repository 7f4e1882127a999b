#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/rng.h"
#include "train/graph/graph.h"

namespace winnow::train {

// A test case: one operation with all its inputs. On these cases, finite differences check the
// reference implementation, and every backend is compared with the reference.
struct OpCase {
  std::string name;  // unique name, an identifier such as "conv2d_odd_width"
  Graph graph;       // graph of a single node
  std::map<ValueId, std::vector<double>> inputs;  // numbers of all inputs, in memory order
  std::vector<ValueId> outputs;  // values to compare; they are also graph outputs of kind kValue
};

// Computes all values of a case by the reference implementation, indexed by ValueId.
std::vector<std::vector<double>> computed_values(const OpCase& made);

// Returns each number rounded to float and converted back.
std::vector<double> as_f32(std::vector<double> numbers);

// Builds a test case with random inputs. The numbers depend only on `place`, the case's index in
// the table.
// Inputs   Multiples of 1/128 in [-1, 1], which are exact in bf16.
// Derived  Numbers computed from inputs are exact in f32.
class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t place) : rng_(1, 0, place, RandomUse::kTest) {}

  ValueId leaf(std::string name, Shape shape, std::vector<double> numbers,
               ValueKind kind = ValueKind::kInput, Storage storage = Storage::kF32);
  ValueId data(std::string name, const Shape& shape);       // adds an input with random numbers
  ValueId parameter(std::string name, const Shape& shape);  // adds a parameter with random numbers

  std::vector<double> signed_numbers(const Shape& shape);
  std::vector<double> positive_numbers(const Shape& shape);  // random numbers in [0.5, 1.5]
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
  // Adds a case. The returned reference is valid until the next call.
  const OpCase& keep(OpCase made);
  std::vector<OpCase> take() && { return std::move(cases_); }

 private:
  std::vector<OpCase> cases_;
};

}  // namespace winnow::train
