#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/bytes.h"

namespace winnow {

// The framing of TFRecord files. Records follow each other: length of the data (8 bytes) and its
// masked CRC-32C; the data and its CRC.
inline constexpr std::size_t kTfrecordHeaderBytes = 12;
inline constexpr std::size_t kTfrecordFooterBytes = 4;

// The length of the data after `header` (kTfrecordHeaderBytes); nullopt: wrong checksum.
std::optional<std::uint64_t> tfrecord_length(BytesView header);

// A record with its frame.
Bytes tfrecord_of(BytesView data);

}  // namespace winnow
