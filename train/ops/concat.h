#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Concatenation of images along the channels, and slices of an image's channels.

// Concatenation: a (N,Ca,H,W), b (N,Cb,H,W), ... -> y (N,Ca+Cb+...,H,W); at least one input
extern const Operation kConcat;

struct SliceAttributes {
  int first = 0;     // index of the first channel of the slice
  int channels = 1;  // number of channels of the slice
};
extern const Operation kSlice;  // slice: x (N,C,H,W) -> y (N,channels,H,W)

}  // namespace winnow::train
