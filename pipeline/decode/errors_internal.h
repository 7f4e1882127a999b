#pragma once

#include <string>
#include <utility>

#include "pipeline/decode/decode.h"

namespace winnow::pipeline {

// Why a picture is refused, by kind.

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

}  // namespace winnow::pipeline
