#pragma once

#include <string>

#include "common/bytes.h"

// Matching checksums. A fuzzer that changes a byte of a sealed file gets no further than its
// checksum. So harnesses seal their inputs, as a forger would. No build of winnow disables its
// checks, and an input is judged alike by the fuzzer and by every build's tests.
namespace winnow::fuzz {

// A column file (dedup/table/column_file.h): its last 8 bytes, and the hashes of thumbnails at the
// end of a fingerprint table. Shorter ones are unchanged.
Bytes seal_column_file(BytesView bytes);
// JSON with a digest line (common/json_text.h), which is inserted if missing. Text that is no
// indented object is unchanged.
std::string seal_json(BytesView text);
// A pack of records (pipeline/store/shard_format.h): each record that its directory refers to, and
// variants. Aligned like a shard's values.
Bytes seal_pack(BytesView pack);
// A file that ends in the XXH3-64 of everything before.
Bytes seal_tail(BytesView bytes);
// A TFRecord file: the checksums of lengths and data, as long as records follow one another.
Bytes seal_tfrecord(BytesView bytes);

}  // namespace winnow::fuzz
