#pragma once

#include <string>

#include "common/bytes.h"

// Checksums that fit. A fuzzer that changes a byte of a sealed file gets no further than its
// checksum. So harnesses seal what they are given, as who forges a file would: no build of winnow
// has its checks off, and an input is judged alike by the fuzzer and by every build's tests.
namespace winnow::fuzz {

// A column file (dedup/table/column_file.h): its last 8 bytes, and the hashes of thumbnails that a
// table of fingerprints ends in. Shorter ones stay as they are.
Bytes seal_column_file(BytesView bytes);
// JSON with a digest line (common/json_text.h), which is put in where there is none. Text that is
// no indented object stays as it is.
std::string seal_json(BytesView text);
// A pack of records (pipeline/store/shard_format.h): each record that its directory leads to, and
// variants. Aligned as a shard's values are.
Bytes seal_pack(BytesView pack);
// A file that ends in the XXH3-64 of all before.
Bytes seal_tail(BytesView bytes);
// A TFRecord file: the checksums of lengths and data, as far as records follow one another.
Bytes seal_tfrecord(BytesView bytes);

}  // namespace winnow::fuzz
