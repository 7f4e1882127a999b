#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "common/bytes.h"

namespace winnow {

// How TFRecord files hold records, one behind the other: the length of the data, 8 bytes, and its
// masked CRC-32C; the data and theirs.
inline constexpr std::size_t kTfrecordHeaderBytes = 12;
inline constexpr std::size_t kTfrecordFooterBytes = 4;

// The length of the data behind `header`, kTfrecordHeaderBytes. None: the checksum is wrong.
std::optional<std::uint64_t> tfrecord_length(BytesView header);

// A record with its frame.
Bytes tfrecord_of(BytesView data);

}  // namespace winnow
