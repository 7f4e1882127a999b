#include "train/checkpoint/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "common/error.h"
#include "common/json.h"
#include "common/json_reader.h"
#include "train/tensor/f16.h"

namespace winnow::train {
namespace {

std::size_t element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  if (dtype == "F8_E4M3" || dtype == "F8_E5M2") return 1;
  return 0;
}

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;        // limit of the format
constexpr std::size_t kMaxExtents = 32;                       // limit for a tensor
constexpr std::int64_t kMaxElements = std::int64_t{1} << 56;  // small enough to count bytes

float float_of_double(double value) {
  if (std::abs(value) > std::numeric_limits<float>::max()) {
    return std::copysign(std::numeric_limits<float>::infinity(), value < 0 ? -1.0F : 1.0F);
  }
  return static_cast<float>(value);
}

template <class Stored, class Convert>
std::vector<float> converted(BytesView data, Convert convert) {
  std::vector<float> values(data.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, data.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert(stored);
  }
  return values;
}

Shape parse_shape(const JsonReader& extents, const std::string& what) {
  Shape shape;
  if (extents.json().size() > kMaxExtents) throw FormatError(what + " has an impossible shape");
  std::int64_t elements = 1;  // extents of 0 count as 1, so that products cannot overflow
  for (const std::uint64_t extent : extents.numbers()) {
    if (extent > static_cast<std::uint64_t>(kMaxElements / elements)) {
      throw FormatError(what + " has an impossible shape");
    }
    shape.push_back(static_cast<std::int64_t>(extent));
    elements *= std::max<std::int64_t>(1, shape.back());
  }
  return shape;
}

struct Row {
  std::uint64_t begin;
  std::uint64_t end;
  NamedTensor tensor;  // without its data
};

Row parse_row(const std::string& name, const JsonReader& row, const std::string& where) {
  const bool printable = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c >= 0x20 && c != 0x7f;  // names are shown to users
  });
  if (!printable) throw FormatError(where + ": a tensor's name has control characters");
  const std::string what = where + ": tensor " + name;
  NamedTensor t{name, row.at("dtype").text(), parse_shape(row.at("shape"), what), {}};
  const std::vector<std::uint64_t> offsets = row.at("data_offsets").numbers(2);
  const std::uint64_t begin = offsets[0];
  const std::uint64_t end = offsets[1];
  const auto expected = static_cast<std::uint64_t>(element_count(t.shape)) * element_bytes(t.dtype);
  if (element_bytes(t.dtype) == 0) {
    throw FormatError(what + " has an unknown type, " + row.at("dtype").dump());
  }
  if (begin > end || end - begin != expected) {
    throw FormatError(what + " has a shape of another size than its data");
  }
  return {begin, end, std::move(t)};
}

// The kind of a file that users often mistake for safetensors; empty if it is unknown.
std::string other_kind(BytesView bytes) {
  const std::string_view text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 64)));
  if (text.starts_with("PK\x03\x04") || text.starts_with("\x80\x02")) {
    return "was written by torch.save(), which winnow does not read; save its tensors with "
           "safetensors.torch.save_file (three lines, see docs/how-to/fine-tune.md)";
  }
  if (text.starts_with("version https://git-lfs")) {
    return "is a Git LFS pointer, not the file itself; get the file with git lfs pull";
  }
  if (text.starts_with("\x89HDF\r\n")) {
    return "is an HDF5 file, as Keras writes them; winnow reads safetensors";
  }
  if (text.starts_with("<!DOCTYPE") || text.starts_with("<html")) {
    return "is a web page; download the file that it links to";
  }
  return {};
}

JsonReader read_header(ByteReader& reader, const std::string& where) {
  const auto header_bytes = reader.get<std::uint64_t>();
  if (header_bytes > kMaxHeaderBytes) {
    throw FormatError(where + " is not a safetensors file: its header would be too large");
  }
  const BytesView header_text = reader.get_bytes(static_cast<std::size_t>(header_bytes));
  // The nesting of a shape within an entry of the table. Deeper lists need many times the memory of
  // their text.
  constexpr int kDeepest = 3;
  return {as_text(header_text), {where + ", the header of its tensors,", "", kDeepest}};
}

}  // namespace

NamedTensor make_f32(std::string name, Shape shape, std::span<const float> values) {
  const auto raw = std::as_bytes(values);
  return {std::move(name), "F32", std::move(shape), Bytes(raw.begin(), raw.end())};
}

NamedTensor make_i64(std::string name, std::int64_t value) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  return {std::move(name), "I64", {}, Bytes(raw.begin(), raw.end())};
}

std::vector<float> f32_values(const NamedTensor& tensor) {
  if (tensor.dtype == "F32") return converted<float>(tensor.data, std::identity());
  if (tensor.dtype == "F64") return converted<double>(tensor.data, float_of_double);
  if (tensor.dtype == "F16") return converted<std::uint16_t>(tensor.data, f32_of_f16);
  if (tensor.dtype == "BF16") {
    return converted<std::uint16_t>(tensor.data, [](std::uint16_t half) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
    });
  }
  throw FormatError("tensor " + tensor.name + " is " + tensor.dtype +
                    ", but F32, F16, BF16 or F64 is needed here");
}

Bytes to_safetensors(std::span<const NamedTensor> tensors,
                     const std::map<std::string, std::string>& metadata) {
  ByteWriter out;
  write_safetensors(tensors, metadata, [&](BytesView piece) { out.put_bytes(piece); });
  return std::move(out).take();
}

void write_safetensors(std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& metadata,
                       const std::function<void(BytesView)>& put) {
  auto header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const NamedTensor& t : tensors) {
    header[t.name] = {
        {"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, offset + t.data.size()}}};
    offset += t.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data
  ByteWriter begin;
  begin.put(static_cast<std::uint64_t>(text.size()));
  begin.put_text(text);
  put(std::move(begin).take());
  for (const NamedTensor& t : tensors) put(t.data);
}

std::vector<NamedTensor> parse_safetensors(BytesView bytes, const std::string& where) {
  if (const std::string kind = other_kind(bytes); !kind.empty()) {
    throw FormatError(where + " " + kind);
  }
  ByteReader reader(bytes, where);
  const JsonReader header = read_header(reader, where);
  const BytesView data = reader.get_bytes(reader.remaining());
  std::vector<Row> rows;
  for (const auto& [name, row] : header.members()) {
    if (name != "__metadata__") rows.push_back(parse_row(name, row, where));
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.begin, a.end, a.tensor.name) < std::tie(b.begin, b.end, b.tensor.name);
  });
  std::uint64_t at = 0;
  std::vector<NamedTensor> tensors;
  for (Row& row : rows) {
    if (row.begin != at) throw FormatError(where + ": the tensors overlap or leave holes");
    if (row.end > data.size()) throw FormatError(where + " ends too soon: it is cut short");
    const BytesView part = data.subspan(row.begin, row.end - row.begin);
    row.tensor.data.assign(part.begin(), part.end());
    tensors.push_back(std::move(row.tensor));
    at = row.end;
  }
  if (at != data.size()) throw FormatError(where + ": bytes are left over after the tensors");
  return tensors;
}

std::map<std::string, std::string> safetensors_metadata(BytesView bytes, const std::string& where) {
  ByteReader reader(bytes, where);
  const JsonReader header = read_header(reader, where);
  std::map<std::string, std::string> metadata;
  if (!header.has("__metadata__")) return metadata;
  for (const auto& [name, text] : header.at("__metadata__").members()) {
    if (text.is_text()) metadata[name] = text.text();
  }
  return metadata;
}

}  // namespace winnow::train
