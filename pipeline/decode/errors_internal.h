#pragma once

#include <string>
#include <utility>

#include "common/error.h"
#include "common/stop.h"
#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Functions that make a DecodeError of each kind.

inline DecodeError truncated(std::string detail) {
  return {DecodeError::Kind::kTruncated, std::move(detail)};
}
inline DecodeError corrupt(std::string detail) {
  return {DecodeError::Kind::kCorrupt, std::move(detail)};
}
inline DecodeError unsupported(std::string detail) {
  return {DecodeError::Kind::kUnsupported, std::move(detail)};
}
inline DecodeError too_large(std::string detail) {
  return {DecodeError::Kind::kTooLarge, std::move(detail)};
}

// Throws StoppedError if a stop was requested.
inline void end_if_stopped(const StopRequested& stop) {
  if (stop && stop()) throw StoppedError("stopped within an image");
}

}  // namespace winnow::pipeline
