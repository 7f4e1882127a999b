#pragma once

#include "train/graph/operation.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// Concatenation of images by channels, and slices of an image's channels.

// a (N,Ca,H,W), b (N,Cb,H,W), ... -> y (N,Ca+Cb+...,H,W); at least one input
extern const Operation kConcat;

struct SliceAttributes {
  int first = 0;     // first channel
  int channels = 1;  // number of channels
};
extern const Operation kSlice;  // x (N,C,H,W) -> y (N,channels,H,W)

}  // namespace winnow::train
