#pragma once

#include <string>

#include "train/graph/gradient.h"
#include "train/graph/reference.h"
#include "train/graph/shape_inference.h"
#include "train/ops/cases.h"
#include "train/ops/conv2d.h"

namespace winnow::train {

// Shape inference that plain and grouped convolutions share. With G groups, filters are
// (K,C/G,R,S), and the filters of a group read only that group's channels.

std::vector<Value> infer_convolution(const ShapeInference& in, const ConvAttributes& conv,
                                     std::int64_t groups);
std::vector<Value> infer_convolution_data(const ShapeInference& in, const ConvAttributes& conv,
                                          std::int64_t groups);
std::vector<Value> infer_convolution_filter(const ShapeInference& in, const ConvAttributes& conv,
                                            std::int64_t groups);

// Float64 reference implementations of the three passes. The number of groups follows from the
// shapes.
void convolve(const ReferenceOperands& operands, const ConvAttributes& conv);
void convolve_data(const ReferenceOperands& operands, const ConvAttributes& conv);
void convolve_filter(const ReferenceOperands& operands, const ConvAttributes& conv);

// Returns the attributes for a backward node of the forward node `node`.
ConvAttributes backward_attributes(const GradientBuilder& builder, const Node& node,
                                   ConvAttributes conv);

// Describes test cases for a convolution: forward and filter gradient with and without a bias, and
// the gradient with respect to the data. Names of cases begin with the operation's name.
struct ConvolutionCase {
  std::string name;
  Shape x;  // shape (N, C, H, W) of the data
  Shape w;  // shape (K, C/G, R, S) of the filter
  ConvAxes axes;
};
struct ConvolutionOperations {
  const Operation& forward;
  const Operation& data;
  const Operation& filter;
  Attributes (*attributes)(const ConvAttributes& conv, std::int64_t groups);
};
void add_convolution_cases(CaseTable& table, const ConvolutionOperations& operations,
                           const ConvolutionCase& made);

}  // namespace winnow::train
