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

// How tests verify an operation.
struct OperationChecks {
  // Adds the operation's test cases to the table (train/ops/cases.h). The first operation of a
  // family adds those of the whole family; nullptr for the others.
  void (*cases)(CaseTable& table) = nullptr;
  // For finite differences: appends numbers that change only where the operation has a kink.
  // nullptr: smooth everywhere.
  void (*sides)(const ReferenceOperands& operands, std::vector<double>& sides) = nullptr;
};

// Everything known about one operation. Constants of this type are in train/ops, and nodes point to
// them. Two nodes have the same operation if they point to the same constant.
struct Operation {
  std::string_view name;
  // Infers the outputs. Throws ShapeError if operands or attributes are not valid.
  std::vector<Value> (*infer)(const ShapeInference& in) = nullptr;
  // Float64 reference implementation: reads the inputs, assigns the outputs.
  void (*reference)(const ReferenceOperands& operands) = nullptr;
  // The attributes as to_text() prints them, each after a space. nullptr: there are none.
  std::string (*text)(const Attributes& attributes) = nullptr;
  // Appends the backward nodes of a forward node. nullptr: the operation has no gradient.
  void (*gradient)(GradientBuilder& builder, const Node& node) = nullptr;
  // Multiply-adds of a node, counting padding like data. nullptr: none; the node is limited by its
  // bytes.
  double (*multiply_adds)(const Graph& graph, const Node& node) = nullptr;
  OperationChecks checks = {};
  // A loss that treats each class separately: targets need not be a distribution over the classes.
  bool each_class = false;
};

inline std::string_view op_name(const Operation* op) noexcept { return op->name; }

}  // namespace winnow::train
