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
  std::string dtype;  // element type as safetensors spells it: "F32", "I64"
  Shape shape;
  Bytes data;
};

NamedTensor make_f32(std::string name, Shape shape, std::span<const float> values);
NamedTensor make_i64(std::string name, std::int64_t value);  // scalar tensor, with shape ()
// Converts a tensor of type F32, F16, BF16 or F64 to floats. F64 is rounded to nearest; too large
// numbers become infinity. Throws FormatError for other types.
std::vector<float> f32_values(const NamedTensor& tensor);

// Encodes tensors in the safetensors format (huggingface/safetensors), in the given order: u64
// header size, JSON header, data without gaps.
Bytes to_safetensors(std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string>& metadata);
// As to_safetensors(), but passes the bytes to `put`, in order and in pieces. Only the header needs
// additional memory.
void write_safetensors(std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(BytesView)>& put);
// Parses an untrusted file, and returns its tensors in the order of their data.
// Checked  Header, names, sizes, offsets, duplicates, overlaps and gaps.
// Memory   At most a small multiple of the file's size.
// Throws   FormatError, which names `where`.
std::vector<NamedTensor> parse_safetensors(BytesView bytes, const std::string& where);
// Returns the metadata texts of a file; empty if it has none. Throws as parse_safetensors().
std::map<std::string, std::string> safetensors_metadata(BytesView bytes, const std::string& where);

}  // namespace winnow::train
