#pragma once

#include <string>

#include "common/bytes.h"

// Makes checksums valid.
// A fuzzer that changes a byte of a sealed file gets no further than its checksum. So harnesses
// seal their inputs, as a forger would. No build of winnow has its checks off, and the fuzzer and
// the tests of every build judge an input alike.
namespace winnow::fuzz {

// A column file (dedup/table/column_file.h): its last 8 bytes, and the hashes of thumbnails at the
// end of a table of fingerprints. Shorter files are unchanged.
Bytes seal_column_file(BytesView bytes);
// JSON with a digest line (common/json_text.h), which is added if it is missing. Text that is not
// an indented object is unchanged.
std::string seal_json(BytesView text);
// A pack of records (pipeline/store/shard_format.h): each record that its directory points to, and
// its variants. The result is aligned like a shard's values.
Bytes seal_pack(BytesView pack);
// A file that ends in the XXH3-64 of everything before.
Bytes seal_tail(BytesView bytes);
// A TFRecord file: the checksums of lengths and data, as far as valid records follow one another.
Bytes seal_tfrecord(BytesView bytes);

}  // namespace winnow::fuzz
