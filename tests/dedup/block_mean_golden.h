#pragma once

// Written by make_block_mean_golden.py with OpenCV 4.6.0.

namespace winnow::test {

// A picture of formula_images.h, its first channel alone or all three, and its code in hexadecimal.
struct BlockMeanGolden {
  const char* picture;
  int width;
  int height;
  int channels;
  const char* hex;
};

// clang-format off
inline constexpr BlockMeanGolden kBlockMeanGolden[] = {
    {"ramp", 1, 1, 1, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"ramp", 1, 1, 3, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"ramp", 1, 300, 1, "00000000ffffffffffff00000000ffffffff00000000ffffffffffff00000000"},
    {"ramp", 1, 300, 3, "00000000ffffffff000000000000ffffffff00000000ffffffffffff00000000"},
    {"ramp", 300, 1, 1, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
    {"ramp", 300, 1, 3, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
    {"ramp", 5, 7, 1, "00f000f000f800f800fc00fe00fe00ff00ff80ffc0ffc0ffe0ffe0fff0fff0ff"},
    {"ramp", 5, 7, 3, "00f000f000f800f800fc00fe00fe00ff00ff80ffc0ffc0ffe0ffe0fff0fff0ff"},
    {"ramp", 97, 61, 1, "388e388e18861cc71cc71cc78ee38ee38ee38ee3c771c771c771c771e338e338"},
    {"ramp", 97, 61, 3, "388e188e1cc71cc71cc70ec38ee38ee38ee3c771c771c771c771e338e338e338"},
    {"ramp", 255, 257, 1, "4ab5aa55ad52956a54ab5aa52ad5a956b54a55aa52ad6a95ab54a55ad52a56a9"},
    {"ramp", 255, 257, 3, "6ab5ab54a552d56a56a94ab5aad5ad52956a54ab5aa52ad5a956b54a55aa52ad"},
    {"ramp", 256, 256, 1, "4ab5aa55ad52956a54ab5aa52ad5a956b54a55aa52ad6a95ab54a55ad52a56a9"},
    {"ramp", 256, 256, 3, "6a95ab54a55ad52a56a94ab5aa55ad52956a54ab5aa52ad5a956b54a55aa52ad"},
    {"ramp", 512, 512, 1, "e1e10f0f7878c3c31e1ef0f087873c3ce1e10f0f7878c3c31e1ef0f087873c3c"},
    {"ramp", 512, 512, 3, "c3c31e1ef0f087873c3ce1e10f0f7878c3c31e1ef0f087873c3ce1e10f0f7878"},
    {"ramp", 1000, 9, 1, "64b264b366b366b246b26cb26cb26c3a6c336c326c336c276c266ca66cb66db6"},
    {"ramp", 1000, 9, 3, "6c326c326c326c326c326c336c376c366c366cb66c366c366c366c364c364c26"},
    {"ramp", 513, 300, 1, "e1e187870f0f3c3cf0f0c3c387871e1e7878e1e1c3c30f0f3c3cf0f0c1c38787"},
    {"ramp", 513, 300, 3, "e1e187871e1e3c3cf0f0c3c30f0f1e3e7878e1e187870f1e3c3cf0f0c3c3870f"},
    {"ramp", 640, 480, 1, "f0c11ff8810ff8c01f7cc10ffce00f7ec0077ce0073ee0037ef0073ff0833ef8"},
    {"ramp", 640, 480, 3, "f8c11f7c810ff8e00f7cc0077ce00f3ee0077cf0073ee0833ef0031ff0813ff8"},
    {"lcg", 1, 1, 1, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"lcg", 1, 1, 3, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"lcg", 1, 300, 1, "ffffffff00000000ffff000000000000ffff0000ffff0000ffffffff0000ffff"},
    {"lcg", 1, 300, 3, "0000ffff0000ffffffff000000000000ffffffffffffffffffff000000000000"},
    {"lcg", 300, 1, 1, "13b513b513b513b513b513b513b513b513b513b513b513b513b513b513b513b5"},
    {"lcg", 300, 1, 3, "1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f1a1f"},
    {"lcg", 5, 7, 1, "cf3fc73f831f0000800fc01fe00fff01ff0007ff03fe03f803e03f80ff07ff0f"},
    {"lcg", 5, 7, 3, "e71fe31f301e10c0000080038003c0e3c0f330fe30fef8ffcf3fcf1f1f001f00"},
    {"lcg", 97, 61, 1, "a1ce543434ab7da2830a6f3a9a81698e28bd3fbbf9501f8848c432ac42475f30"},
    {"lcg", 97, 61, 3, "38467e147847ed8a172a2ffc9e15699c66dbdacb781175ca1b57b3249a5d1cb0"},
    {"lcg", 255, 257, 1, "30730c1f009beb9a6a9137c80add3e252afe76003136cd5b6a99eae36fad96bc"},
    {"lcg", 255, 257, 3, "23f4278acb95c63a0df304ce3ac98c8d28b6380645bfbd3608d1ffcb3f155f9c"},
    {"lcg", 256, 256, 1, "b869832f6925de5b696d495fbc0d4f7ecb18c22d4f4e65f0408a3b8bf4831f79"},
    {"lcg", 256, 256, 3, "10ba83446b6d5c4f10cf5107b0251f5cb35c139afe6b45734288763374027f54"},
    {"lcg", 512, 512, 1, "457a76f379e3f75d28d7b36ca7c8080d0827a8bc938243cafd8be57365830651"},
    {"lcg", 512, 512, 3, "a5b0b467153d47ff78cd965ddf42a51c58247c26ad80478e48afd1b1546616c5"},
    {"lcg", 1000, 9, 1, "ebe8eae87cf956d9578174c5f8c7dbc59385922f822f80fdf391fb91d79f475e"},
    {"lcg", 1000, 9, 3, "6bc169c9f9d8d5d1c5d1f587b407b7a013201321512f6c777c357d95675f665e"},
    {"lcg", 513, 300, 1, "d5fceb7c144b9be8ecbcd7e686e1728ea8918952d29b15d24a12b564337cfa66"},
    {"lcg", 513, 300, 3, "25d8735b4e07cbe8fa3b55ffa6e0ea0ea9b7ad560d830279495685e41252623c"},
    {"lcg", 640, 480, 1, "53ec94d69932fd0dcb4d54e894a9feaec0bba5d7f782c5a59f7c49d088d08e82"},
    {"lcg", 640, 480, 3, "0757ba473bb23747f7f31458b4eb6a6e0cab2dd1b742eeb1b1695fd09208bfca"},
    {"blob", 1, 1, 1, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"blob", 1, 1, 3, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"blob", 1, 300, 1, "0000000000000000000000000000ffffffff0000000000000000000000000000"},
    {"blob", 1, 300, 3, "0000000000000000000000000000ffffffff0000000000000000000000000000"},
    {"blob", 300, 1, 1, "7000700070007000700070007000700070007000700070007000700070007000"},
    {"blob", 300, 1, 3, "3000300030003000300030003000300030003000300030003000300030003000"},
    {"blob", 5, 7, 1, "00000000ff00ff03ff07ff0fff1fff1fff1fff1fff0fff07ff03ff0000000000"},
    {"blob", 5, 7, 3, "00000000fc00ff03ff07ff0fff1fff1fff1fff1fff0fff07ff03fc0000000000"},
    {"blob", 97, 61, 1, "fc01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff07ff07ff03fe03fc01"},
    {"blob", 97, 61, 3, "fc01fe01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff03fe03fe01fc01"},
    {"blob", 255, 257, 1, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 255, 257, 3, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 256, 256, 1, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 256, 256, 3, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 512, 512, 1, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 512, 512, 3, "0000f800fe03ff07ff07ff0fff0fff0fff0fff0fff0fff07ff07fe03f8000000"},
    {"blob", 1000, 9, 1, "7000700070007000700070007000700070007000700070007000700070007000"},
    {"blob", 1000, 9, 3, "7000700070007000700070007000700070007000700070007000700070007000"},
    {"blob", 513, 300, 1, "fe01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff07ff07ff03fe03fe01"},
    {"blob", 513, 300, 3, "fc01fe01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff03fe03fe03fc01"},
    {"blob", 640, 480, 1, "fc00fe01fe03ff07ff07ff07ff0fff0fff0fff0fff07ff07ff07fe03fe01fc00"},
    {"blob", 640, 480, 3, "f800fc01fe03ff03ff07ff07ff07ff07ff07ff07ff07ff07ff07fe03fc01f800"},
    {"tri", 1, 1, 1, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"tri", 1, 1, 3, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
    {"tri", 1, 300, 1, "ffffffffffff00000000000000000000000000000000ffffffffffffffffffff"},
    {"tri", 1, 300, 3, "ffffffff00000000000000000000000000000000ffffffffffffffffffffffff"},
    {"tri", 300, 1, 1, "718c718c718c718c718c718c718c718c718c718c718c718c718c718c718c718c"},
    {"tri", 300, 1, 3, "718e718e718e718e718e718e718e718e718e718e718e718e718e718e718e718e"},
    {"tri", 5, 7, 1, "ff0fff0fff07ff07ff03ff01ff01ff00ff007f007f003f003f001f000f000f00"},
    {"tri", 5, 7, 3, "ff0fff0fff07ff07ff03ff01ff01ff00ff007f007f003f003f001f000f000f00"},
    {"tri", 97, 61, 1, "0ff00ff80ff807fc07fe07fe037f033f833f831f811fc10fc107c107e187e083"},
    {"tri", 97, 61, 3, "07f807fc07fc03fe03fe037f033f813f811fc11fc10fc007e007e083e083f0c3"},
    {"tri", 255, 257, 1, "711c39e79899cc646493b66d92b65a4b2ab5a95a55ab5555b5aaa9d46b29dad2"},
    {"tri", 255, 257, 3, "711c19638c994c662693b66dd2964a6b2b95ad6a55b555d5a56aab954a69d292"},
    {"tri", 256, 256, 1, "711c39e79899cc646493b66d92b65a4b2ab5a95a55ab5555b52aa9d56b29da92"},
    {"tri", 256, 256, 3, "711c19638c994c662693b66dd2964a6b2b95ad6a55b555d5a56aab954b69d296"},
    {"tri", 512, 512, 1, "25db2ad556eb59a6e33cff07c73899e635cb2ad516eb59a6e338ff07c73899e6"},
    {"tri", 512, 512, 3, "34cb2ad534cbd9a6c738ff07c73899e634cb2ad534cbd966c738ff07c738d9e6"},
    {"tri", 1000, 9, 1, "5a4b5a4b5a4a5a5a5a5a5ad2dad2d292d296d2b692b692b4922492249264926d"},
    {"tri", 1000, 9, 3, "5a4a5a4a5a5a5a5ad2d2d2d2d296d29692b692b692b492249224b66db66db66d"},
    {"tri", 513, 300, 1, "2d9954daaa5a5a5db4d5cc9639b3c3311ff8ffff3f3cc79933d349d6b5545675"},
    {"tri", 513, 300, 3, "249956daaa5a5259a4d5cd963137c3313ff8ffff1f3ce39839d34d52b4745a75"},
    {"tri", 640, 480, 1, "94da12554c93e138fcf8263789cd954a1a8d6e36f070703c26d38b5595ea5ba9"},
    {"tri", 640, 480, 3, "924a52554c96e3387c7c27b3a9c5954a5aad4c26e0f1783c26d3ab5495ba5ba9"},
};
// clang-format on

}  // namespace winnow::test
