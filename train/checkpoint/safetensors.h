#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/bytes.h"
#include "train/tensor/tensor.h"

namespace winnow::train {

// A tensor with a name, as it stands in a safetensors file. Data little-endian, row-major.
struct NamedTensor {
  std::string name;
  std::string dtype;  // "F32", "I64", as safetensors spells them
  Shape shape;
  Bytes data;
};

NamedTensor make_f32(std::string name, Shape shape, std::span<const float> values);
NamedTensor make_i64(std::string name, std::int64_t value);  // shape ()
// F32, F16, BF16 or F64, the last rounded to nearest, infinite where it is too large. Throws
// FormatError for other dtypes.
std::vector<float> f32_values(const NamedTensor& tensor);

// The safetensors format (huggingface/safetensors): u64 header size, JSON header, data without
// holes. Tensors are written in the order given.
Bytes to_safetensors(std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string>& metadata);
// Hands the same bytes to `put`, in order, in pieces: nothing but the header is held for it.
void write_safetensors(std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(BytesView)>& put);
// The file may be a stranger's: header, names, sizes, offsets, duplicates, overlaps and holes are
// checked, and memory stays within a small multiple of the file. Returns the tensors in the order
// of their data. Throws FormatError naming `where`.
std::vector<NamedTensor> parse_safetensors(BytesView bytes, const std::string& where);
// The texts of its metadata; none where it has none. Throws likewise.
std::map<std::string, std::string> safetensors_metadata(BytesView bytes, const std::string& where);

}  // namespace winnow::train
