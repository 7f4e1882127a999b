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
  // Adds test cases to the table (train/ops/cases.h). The first operation of a family adds those of
  // the whole family; nullptr for the others.
  void (*cases)(CaseTable& table) = nullptr;
  // Helps gradient checks by finite differences to skip kinks: appends numbers to `sides` that
  // change only when the operation crosses a kink. nullptr: the operation is smooth everywhere.
  void (*sides)(const ReferenceOperands& operands, std::vector<double>& sides) = nullptr;
};

// Everything known about one operation (type of node). Its constants are in train/ops, and nodes
// point to them. Two nodes have the same operation if they point to the same constant.
struct Operation {
  std::string_view name;
  // Infers the output values of a node. Throws ShapeError if operands or attributes are invalid.
  std::vector<Value> (*infer)(const ShapeInference& in) = nullptr;
  // Computes a node in float64, as a reference for backends: reads its inputs, assigns its outputs.
  void (*reference)(const ReferenceOperands& operands) = nullptr;
  // Returns the attributes of a node as to_text() prints them, each after a space. nullptr: the
  // operation has none.
  std::string (*text)(const Attributes& attributes) = nullptr;
  // Appends the backward nodes of a forward node. nullptr: the operation has no gradient.
  void (*gradient)(GradientBuilder& builder, const Node& node) = nullptr;
  // Returns the number of multiply-adds of a node, counting padding like data. nullptr: the
  // operation has none, and its speed is limited by memory traffic.
  double (*multiply_adds)(const Graph& graph, const Node& node) = nullptr;
  OperationChecks checks = {};
  // Whether the operation is a loss that treats each class separately, so that targets need not sum
  // to 1.
  bool each_class = false;
};

inline std::string_view op_name(const Operation* op) noexcept { return op->name; }

}  // namespace winnow::train
