#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/bytes.h"

namespace winnow {

// The framing of TFRecord files. A file is a sequence of records: length of the data (8 bytes),
// masked CRC-32C of the length, data, masked CRC-32C of the data.
inline constexpr std::size_t kTfrecordHeaderBytes = 12;
inline constexpr std::size_t kTfrecordFooterBytes = 4;

// The length of a record's data, from its header (kTfrecordHeaderBytes); nullopt: wrong checksum.
std::optional<std::uint64_t> tfrecord_length(BytesView header);

// The bytes of a record with its frame.
Bytes tfrecord_of(BytesView data);

}  // namespace winnow
