#pragma once

#include <cstddef>

#include "train/backend/lower/attention_kernels.h"
#include "train/backend/onednn/kernels.h"

// Attention, a head of a sample at a time: its scores stay in the cache of the thread that computes
// them. Any number of threads gives the same bits. Products are f32, of bf16 data too.
namespace winnow::train::onednn {

std::size_t attention_scratch_bytes(const kernels::AttentionLayer& layer, int threads);
std::size_t attention_backward_scratch_bytes(const kernels::AttentionLayer& layer, int threads);

// Throw Error when memory runs out.
void run_attention(const kernels::Attention& a, const kernels::Table& table, int threads);
void run_attention_backward(const kernels::AttentionBackward& a, const kernels::Table& table,
                            int threads);

}  // namespace winnow::train::onednn
