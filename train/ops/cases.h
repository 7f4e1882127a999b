#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/rng.h"
#include "train/graph/graph.h"

namespace winnow::train {

// One operation with everything it reads. Finite differences of the reference and the comparison of
// every backend with it use the same cases.
struct OpCase {
  std::string name;                               // unique, an identifier: "conv2d_odd_width"
  Graph graph;                                    // one node
  std::map<ValueId, std::vector<double>> inputs;  // every value it reads, in memory order
  std::vector<ValueId> outputs;  // what to compare; also outputs of the graph, as kValue
};

// Every value of a case, computed by the reference.
std::vector<std::vector<double>> computed_values(const OpCase& made);

// Rounded to float and back.
std::vector<double> as_f32(std::vector<double> numbers);

// A case under construction. Its random numbers depend on `place` alone: multiples of 1/128 in
// [-1, 1] and so exact in bf16; derived numbers are exact in f32.
class CaseMaker {
 public:
  explicit CaseMaker(std::uint64_t place) : rng_(1, 0, place, RandomUse::kTest) {}

  ValueId leaf(std::string name, Shape shape, std::vector<double> numbers,
               ValueKind kind = ValueKind::kInput, Storage storage = Storage::kF32);
  ValueId data(std::string name, const Shape& shape);       // an input of random numbers
  ValueId parameter(std::string name, const Shape& shape);  // a parameter of random numbers

  std::vector<double> signed_numbers(const Shape& shape);
  std::vector<double> positive_numbers(const Shape& shape);  // from 0.5 to 1.5
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
  // The reference is valid until the next call.
  const OpCase& keep(OpCase made);
  std::vector<OpCase> take() && { return std::move(cases_); }

 private:
  std::vector<OpCase> cases_;
};

}  // namespace winnow::train
