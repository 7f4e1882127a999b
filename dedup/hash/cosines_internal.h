#pragma once

#include <array>
#include <cstddef>

namespace winnow::dedup {

// cos(pi i / 128) for i = 0..64. Constants, because the last bit of the C library's cos depends on
// the machine.
inline constexpr std::array<double, 65> kCosines{
    0x1.0000000000000p+0,
    0x1.ffd886084cd0dp-1,
    0x1.ff621e3796d7ep-1,
    0x1.fe9cdad01883ap-1,
    0x1.fd88da3d12526p-1,
    0x1.fc26470e19fd3p-1,
    0x1.fa7557f08a517p-1,
    0x1.f8764fa714ba9p-1,
    0x1.f6297cff75cb0p-1,
    0x1.f38f3ac64e589p-1,
    0x1.f0a7efb9230d7p-1,
    0x1.ed740e7684963p-1,
    0x1.e9f4156c62ddap-1,
    0x1.e6288ec48e112p-1,
    0x1.e212104f686e5p-1,
    0x1.ddb13b6ccc23dp-1,
    0x1.d906bcf328d46p-1,
    0x1.d4134d14dc93ap-1,
    0x1.ced7af43cc773p-1,
    0x1.c954b213411f5p-1,
    0x1.c38b2f180bdb1p-1,
    0x1.bd7c0ac6f952ap-1,
    0x1.b728345196e3ep-1,
    0x1.b090a58150200p-1,
    0x1.a9b66290ea1a3p-1,
    0x1.a29a7a0462782p-1,
    0x1.9b3e047f38741p-1,
    0x1.93a22499263fcp-1,
    0x1.8bc806b151741p-1,
    0x1.83b0e0bff976ep-1,
    0x1.7b5df226aafafp-1,
    0x1.72d0837efff97p-1,
    0x1.6a09e667f3bcdp-1,
    0x1.610b7551d2cdfp-1,
    0x1.57d69348cec9fp-1,
    0x1.4e6cabbe3e5e9p-1,
    0x1.44cf325091dd6p-1,
    0x1.3affa292050b9p-1,
    0x1.30ff7fce17036p-1,
    0x1.26d054cdd12dfp-1,
    0x1.1c73b39ae68c9p-1,
    0x1.11eb3541b4b23p-1,
    0x1.073879922ffedp-1,
    0x1.f8ba4dbf89abbp-2,
    0x1.e2b5d3806f63ep-2,
    0x1.cc66e9931c45ep-2,
    0x1.b5d1009e15cc2p-2,
    0x1.9ef7943a8ed8ap-2,
    0x1.87de2a6aea964p-2,
    0x1.7088530fa45a1p-2,
    0x1.58f9a75ab1fddp-2,
    0x1.4135c94176603p-2,
    0x1.294062ed59f05p-2,
    0x1.111d262b1f678p-2,
    0x1.f19f97b215f1ep-3,
    0x1.c0b826a7e4f62p-3,
    0x1.8f8b83c69a60dp-3,
    0x1.5e214448b3fcbp-3,
    0x1.2c8106e8e613ap-3,
    0x1.f564e56a97314p-4,
    0x1.917a6bc29b438p-4,
    0x1.2d52092ce19f8p-4,
    0x1.91f65f10dd824p-5,
    0x1.92155f7a36677p-6,
    0x0p+0,
};

// cos(pi i / 128), i >= 0.
constexpr double cosine(int i) {
  i %= 256;
  if (i > 128) i = 256 - i;
  return i <= 64 ? kCosines[static_cast<std::size_t>(i)]
                 : -kCosines[static_cast<std::size_t>(128 - i)];
}

}  // namespace winnow::dedup
