#pragma once

#include <cstdint>

#include "common/resample.h"

namespace winnow::test {

// FNV-1a of what Pillow 9.4's Image.resize makes of formula images, and of convert("L") before it.
struct ResampleGolden {
  const char* kind;
  int width;
  int height;
  int to_width;
  int to_height;
  ResampleFilter filter;
  std::uint64_t rgb;
  std::uint64_t gray;
};

inline constexpr ResampleGolden kResampleGolden[] = {
    {"ramp", 97, 61, 32, 32, ResampleFilter::kBilinear, 0x0c9fd33028773b53, 0x025893878633d88a},
    {"ramp", 97, 61, 32, 32, ResampleFilter::kLanczos, 0x2d230ad294e72640, 0x3b90b266bcd2e046},
    {"ramp", 97, 61, 9, 8, ResampleFilter::kBilinear, 0x0b4c5f2761875d7e, 0x06155ccad6f00c72},
    {"ramp", 97, 61, 9, 8, ResampleFilter::kLanczos, 0xc93c08b4cf27750c, 0x19334867727073aa},
    {"ramp", 97, 61, 97, 20, ResampleFilter::kBilinear, 0x15e9b2b1a47f4072, 0xdedb98f4f5a12490},
    {"ramp", 97, 61, 97, 20, ResampleFilter::kLanczos, 0xa4bc469a1dadcff4, 0xff1dc5fa90ecc2a3},
    {"ramp", 97, 61, 200, 61, ResampleFilter::kBilinear, 0x440d2b784e395fb1, 0xbe1d954006c1f520},
    {"ramp", 97, 61, 200, 61, ResampleFilter::kLanczos, 0x1f723df1b1278741, 0x623d6e152a0a75c8},
    {"ramp", 97, 61, 1, 1, ResampleFilter::kBilinear, 0x3db0d51ae871dc92, 0xaf643f4c860294c5},
    {"ramp", 97, 61, 1, 1, ResampleFilter::kLanczos, 0x3db0d61ae871de45, 0xaf643f4c860294c5},
    {"ramp", 33, 120, 9, 8, ResampleFilter::kLanczos, 0xa7385d5727f5d496, 0x06f4b86227e57093},
    {"lcg", 97, 61, 32, 32, ResampleFilter::kBilinear, 0x31a7ea8a9c3ab5d2, 0x9faa9a0554226841},
    {"lcg", 97, 61, 32, 32, ResampleFilter::kLanczos, 0x3847e214850ff59f, 0x9ddf8860eb0a2624},
    {"lcg", 97, 61, 9, 8, ResampleFilter::kBilinear, 0xe370d7b75e30e9a1, 0xbb70cdb363126654},
    {"lcg", 97, 61, 9, 8, ResampleFilter::kLanczos, 0xfd1556d0ffb4eaf2, 0x83b931f47f4733b8},
    {"lcg", 97, 61, 97, 20, ResampleFilter::kBilinear, 0x284deeace4fa0959, 0xcdf292af88bd604e},
    {"lcg", 97, 61, 97, 20, ResampleFilter::kLanczos, 0x97fe1edae74b7abe, 0x720d9fafb0dd1d38},
    {"lcg", 97, 61, 200, 61, ResampleFilter::kBilinear, 0xb603c90675e3650a, 0xdc7fbf7c4af6dd0f},
    {"lcg", 97, 61, 200, 61, ResampleFilter::kLanczos, 0x247bc8cbce3fa1de, 0x1d5a482f88a4f8ae},
    {"lcg", 97, 61, 1, 1, ResampleFilter::kBilinear, 0xa2b009196ea47b1e, 0xaf643d4c8602915f},
    {"lcg", 97, 61, 1, 1, ResampleFilter::kLanczos, 0xa2b009196ea47b1e, 0xaf643d4c8602915f},
    {"lcg", 33, 120, 97, 20, ResampleFilter::kBilinear, 0x9f678ef07f9e35fb, 0xf808f22aa9eb164e},
    {"blob", 97, 61, 32, 32, ResampleFilter::kBilinear, 0x7112d8834097631d, 0x33213de886972c05},
    {"blob", 97, 61, 32, 32, ResampleFilter::kLanczos, 0xa0ed08aac4fbebe5, 0xe994dd63bfaf6441},
    {"blob", 97, 61, 9, 8, ResampleFilter::kBilinear, 0xa68bf88ba6b255a5, 0x15d362a7a686e85d},
    {"blob", 97, 61, 9, 8, ResampleFilter::kLanczos, 0x0e0ef71565d76417, 0xbc08f5e61a483c1b},
    {"blob", 97, 61, 97, 20, ResampleFilter::kBilinear, 0x68cdd3698f3da1d5, 0xb5cb156c7157bc55},
    {"blob", 97, 61, 97, 20, ResampleFilter::kLanczos, 0xacbbcc6c6017bfd1, 0xe30b876694cdcb39},
    {"blob", 97, 61, 200, 61, ResampleFilter::kBilinear, 0x6874125c0c5fb6c4, 0x3985b7b086d29f90},
    {"blob", 97, 61, 200, 61, ResampleFilter::kLanczos, 0x4ce16215abb91eef, 0x9c5d3b597a27c636},
    {"blob", 97, 61, 1, 1, ResampleFilter::kBilinear, 0x73aeed1c29dd6bcd, 0xaf64264c86026a4a},
    {"blob", 97, 61, 1, 1, ResampleFilter::kLanczos, 0xa83d531c47cc680f, 0xaf64254c86026897},
    {"blob", 33, 120, 97, 20, ResampleFilter::kLanczos, 0xaa477a3279e36bf2, 0x4f4d3b2eaa076fe8},
    {"tri", 97, 61, 32, 32, ResampleFilter::kBilinear, 0xf60cc3303c670614, 0x8a4485ee35445f11},
    {"tri", 97, 61, 32, 32, ResampleFilter::kLanczos, 0xfe762d824b5cf119, 0x84242df11fdfba83},
    {"tri", 97, 61, 9, 8, ResampleFilter::kBilinear, 0x16e040914ce60eaf, 0x0736c14a41c92f12},
    {"tri", 97, 61, 9, 8, ResampleFilter::kLanczos, 0xd6bed4c41fac816c, 0x765427aabe86214c},
    {"tri", 97, 61, 97, 20, ResampleFilter::kBilinear, 0x058c68b9bf388dc7, 0x08088d80776eb3ce},
    {"tri", 97, 61, 97, 20, ResampleFilter::kLanczos, 0x0498d313f2f6872f, 0xbca1d81d5d1a7c1c},
    {"tri", 97, 61, 200, 61, ResampleFilter::kBilinear, 0x4c59b8ea30d4dc5f, 0xd58a2d298c1b51df},
    {"tri", 97, 61, 200, 61, ResampleFilter::kLanczos, 0x705f10e2f1483483, 0x0686c756189f8e34},
    {"tri", 97, 61, 1, 1, ResampleFilter::kBilinear, 0xce840419879d20b2, 0xaf63f44c86021554},
    {"tri", 97, 61, 1, 1, ResampleFilter::kLanczos, 0xb52e871979735a74, 0xaf63f54c86021707},
    {"tri", 33, 120, 200, 61, ResampleFilter::kBilinear, 0x96763936f4f3e2b0, 0x24421407d168ced8},
    {"ramp", 97, 61, 64, 40, ResampleFilter::kBicubic, 0x27a2e9ded6846cd4, 0x60b726114722b556},
    {"lcg", 97, 61, 64, 40, ResampleFilter::kBicubic, 0x837736578e430e51, 0x4dc1e436e6c29525},
    {"blob", 97, 61, 64, 40, ResampleFilter::kBicubic, 0x6b6b73557bd96e19, 0x056e542d2e8852f9},
    {"tri", 97, 61, 64, 40, ResampleFilter::kBicubic, 0x58ddb11ad57cfaec, 0x1fa4668d93fe2950},
    {"lcg", 97, 61, 200, 61, ResampleFilter::kBicubic, 0xe611337e60cfdd64, 0xd6fc0371dc755b40},
};

// The same of Image.resize(box=...).
struct RegionGolden {
  const char* kind;
  int width;
  int height;
  Region region;
  int to_width;
  int to_height;
  ResampleFilter filter;
  std::uint64_t rgb;
  std::uint64_t gray;
};

inline constexpr RegionGolden kRegionGolden[] = {
    {"lcg",
     97,
     61,
     {0.5, 0.25, 60, 96},
     40,
     30,
     ResampleFilter::kBilinear,
     0xd5403dd6f8574b8a,
     0x61f4beda69721242},
    {"tri",
     97,
     61,
     {3.125, 7.75, 41.5, 80.25},
     32,
     32,
     ResampleFilter::kBilinear,
     0xf8e96a2ac0b5d823,
     0x702fab444208afd2},
    {"lcg",
     50,
     40,
     {0, 0.125, 40, 49.875},
     64,
     40,
     ResampleFilter::kBilinear,
     0xab66bcb8ec196ee8,
     0x22d02fec8f886bc0},
    {"blob",
     50,
     40,
     {0.375, 0, 39.625, 50},
     50,
     40,
     ResampleFilter::kBilinear,
     0x4bbaa52fa7eab4f6,
     0xd5351e58fea40652},
    {"lcg",
     33,
     20,
     {2.5, 3, 1.25, 2.5},
     24,
     24,
     ResampleFilter::kBilinear,
     0x704c56ffb37026ee,
     0x2fc55d469a48dc47},
    {"tri",
     97,
     61,
     {3.125, 7.75, 41.5, 80.25},
     32,
     32,
     ResampleFilter::kLanczos,
     0x2786313e41f9e585,
     0xfc2c97c2278778a8},
    {"lcg",
     97,
     61,
     {10, 20, 30, 30},
     30,
     30,
     ResampleFilter::kBilinear,
     0xfb6015f5522dcb9e,
     0x0461e1c27cdc7501},
};

}  // namespace winnow::test
