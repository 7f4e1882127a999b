#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace winnow::train {

class Attributes;
class CaseTable;
class GradientBuilder;
class ReferenceOperands;
class ShapeInference;
struct Graph;
struct Node;
struct Value;

// How tests hold an operation to its meaning.
struct OperationChecks {
  // Adds the cases of the operation to the table (train/ops/cases.h). The first operation of a
  // family adds the cases of the whole family. Null: another one does.
  void (*cases)(CaseTable& table) = nullptr;
  // Appends numbers that change only where the operation has a kink, for finite differences.
  // Null: smooth everywhere.
  void (*sides)(const ReferenceOperands& operands, std::vector<double>& sides) = nullptr;
};

// All that is known of one operation. Constants of this type stand in train/ops; a node points to
// its own. Two nodes are of the same operation when they point to the same constant.
struct Operation {
  std::string_view name;
  // The values it yields. Throws ShapeError when operands or attributes do not fit.
  std::vector<Value> (*infer)(const ShapeInference& in) = nullptr;
  // Its float64 meaning: reads the inputs, assigns the outputs.
  void (*reference)(const ReferenceOperands& operands) = nullptr;
  // The attributes in to_text(), each behind a space. Null: nothing to say.
  std::string (*text)(const Attributes& attributes) = nullptr;
  // Appends the backward nodes of a forward node. Null: it has no gradient.
  void (*gradient)(GradientBuilder& builder, const Node& node) = nullptr;
  // Multiply-adds of a node, padding counted as if it were data. Null: none; bound by its bytes.
  double (*multiply_adds)(const Graph& graph, const Node& node) = nullptr;
  OperationChecks checks = {};
  // A loss of each class by itself: its targets need not be a distribution over the classes.
  bool each_class = false;
};

inline std::string_view op_name(const Operation* op) noexcept { return op->name; }

}  // namespace winnow::train
