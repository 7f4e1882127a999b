#include "common/comm/elements.h"

#include <array>
#include <string>

#include "common/row_called.h"

namespace winnow::comm {

namespace {

constexpr std::array kTypes{
    ElementTypeInfo{"f32", "floats", sizeof(float)},
    ElementTypeInfo{"f64", "doubles", sizeof(double)},
    ElementTypeInfo{"bf16", "bf16", sizeof(BF16)},
    ElementTypeInfo{"f16", "f16", sizeof(F16)},
    ElementTypeInfo{"i32", "int32", sizeof(std::int32_t)},
    ElementTypeInfo{"i64", "int64", sizeof(std::int64_t)},
};

}  // namespace

const ElementTypeInfo& info(ElementType type) noexcept {
  return kTypes[static_cast<std::size_t>(type)];
}

std::span<const ElementTypeInfo> element_types() { return kTypes; }

ElementType find_element_type(std::string_view name) {
  const ElementTypeInfo& row = row_called("there is no type of elements", name, kTypes);
  return static_cast<ElementType>(&row - kTypes.data());
}

}  // namespace winnow::comm
