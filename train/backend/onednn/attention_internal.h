#pragma once

#include <cstddef>

#include "train/backend/lower/attention_kernels.h"
#include "train/backend/onednn/kernels.h"

// Attention, one head of one sample at a time, so that its scores stay in the cache of the thread
// that computes them.
// Bits      The same for any number of threads.
// Products  f32, also for bf16 data.
namespace winnow::train::onednn {

std::size_t attention_scratch_bytes(const kernels::AttentionLayer& layer, int threads);
std::size_t attention_backward_scratch_bytes(const kernels::AttentionLayer& layer, int threads);

// Throw Error if memory runs out.
void run_attention(const kernels::Attention& a, const kernels::Table& table, int threads);
void run_attention_backward(const kernels::AttentionBackward& a, const kernels::Table& table,
                            int threads);

}  // namespace winnow::train::onednn
