#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// A named tensor, as stored in a safetensors file. Data is little-endian and row-major.
struct NamedTensor {
  std::string name;
  std::string dtype;  // "F32", "I64", as spelled by safetensors
  Shape shape;
  Bytes data;
};

NamedTensor make_f32(std::string name, Shape shape, std::span<const float> values);
NamedTensor make_i64(std::string name, std::int64_t value);  // shape ()
// Converts from F32, F16, BF16 or F64. F64 is rounded to nearest; too large numbers become
// infinity. Throws FormatError for other dtypes.
std::vector<float> f32_values(const NamedTensor& tensor);

// Encodes tensors in the safetensors format (huggingface/safetensors), in the given order: u64
// header size, JSON header, data without gaps.
Bytes to_safetensors(std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string>& metadata);
// Passes the same bytes to `put`, in order and in pieces. Only the header needs additional memory.
void write_safetensors(std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(BytesView)>& put);
// Parses an untrusted file, and returns the tensors in the order of their data.
// Checked  Header, names, sizes, offsets, duplicates, overlaps and gaps.
// Memory   At most a small multiple of the file's size.
// Throws   FormatError naming `where`.
std::vector<NamedTensor> parse_safetensors(BytesView bytes, const std::string& where);
// The texts of its metadata; empty if it has none. Throws the same errors.
std::map<std::string, std::string> safetensors_metadata(BytesView bytes, const std::string& where);

}  // namespace winnow::train
