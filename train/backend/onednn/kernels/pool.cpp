#include "train/backend/onednn/kernels/base_internal.h"
#include "train/backend/onednn/kernels/functions_internal.h"

namespace winnow::train::kernels::WINNOW_ISA {
namespace {

// Calls f(image, row, first channel, lanes) for every image and each of `height` rows.
template <class Function>
void for_image_rows(Index batch, Index height, int threads, Function f) {
  parallel_pieces(batch * height, 1, threads, [=](Index i, Index) { f(i / height, i % height); });
}

struct Range {
  Index begin, end;
};
// The elements of the window at `out`, clipped to the data.
Range covered(Index out, int kernel, int stride, int pad, Index size) {
  const Index begin = out * stride - pad;
  return {greatest(begin, 0), least(begin + kernel, size)};
}
// The windows that contain element `in`.
Range covering(Index in, int kernel, int stride, int pad, Index outs) {
  const int at = static_cast<int>(in) + pad;  // 32-bit division is much faster
  const int past = at - kernel + 1;           // earliest start of a window that contains it
  return {past <= 0 ? 0 : (past + stride - 1) / stride, least(outs, at / stride + 1)};
}

// Position of element (h, w) in window (p, q), row-major.
std::int32_t place_in(const PoolWindow& window, Index h, Index w, Index p, Index q) {
  return static_cast<std::int32_t>((h - (p * window.stride - window.pad)) * window.kernel_w + w -
                                   (q * window.stride - window.pad));
}

template <class T>
void max_pool_typed(const Pool& a, int threads) {
  const PoolLayer l = a.layer;
  const PoolWindow window = a.layer.window;
  const auto* x = static_cast<const T*>(a.from);
  auto* y = static_cast<T*>(a.to);
  for_image_rows(l.batch, l.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, window.kernel_h, window.stride, window.pad, l.height);
    for (Index q = 0; q < l.out_width; ++q) {
      const Range ws = covered(q, window.kernel_w, window.stride, window.pad, l.width);
      const Index to = ((n * l.out_height + p) * l.out_width + q) * l.channels;
      for_blocks(l.channels, [=](Index c, int lanes) {
        Floats best = {};
        Ints place = {};
        bool none = true;
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            const Index from = ((n * l.height + h) * l.width + w) * l.channels + c;
            const std::int32_t here = place_in(window, h, w, p, q);
            const Floats v = load_block(x + from, lanes);
            if (none) {
              best = v;
              place = Ints{} + here;
              none = false;
              continue;
            }
            // The first NaN wins, so that it reaches the loss.
            const Ints wins = (v > best) | ((v != v) & (best == best));
            best = wins ? v : best;
            place = wins ? Ints{} + here : place;
          }
        }
        store_block(y + to + c, best, lanes);
        store_bytes(a.index + to + c, __builtin_convertvector(place, Bytes), lanes);
      });
    }
  });
}

// For windows that do not overlap: each passes its gradient to one element.
template <class T>
void max_pool_backward_apart(const Pool& a, int threads) {
  const PoolLayer l = a.layer;
  const PoolWindow window = a.layer.window;
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  for_image_rows(l.batch, l.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, window.kernel_h, window.stride, window.pad, l.height);
    // A window is responsible for the rows down to the next windows, including rows that no window
    // covers.
    const Index top = p == 0 ? 0 : hs.begin;
    const Index bottom = p + 1 < l.out_height ? (p + 1) * window.stride - window.pad : l.height;
    const Index row = l.width * l.channels;
    __builtin_memset(dx + (n * l.height + top) * row, 0,
                     static_cast<std::size_t>((bottom - top) * row) * sizeof(T));
    for (Index q = 0; q < l.out_width; ++q) {
      const Range ws = covered(q, window.kernel_w, window.stride, window.pad, l.width);
      const Index from = ((n * l.out_height + p) * l.out_width + q) * l.channels;
      for_blocks(l.channels, [=](Index c, int lanes) {
        const Ints place = __builtin_convertvector(load_bytes(a.index + from + c, lanes), Ints);
        const Floats g = load_block(dy + from + c, lanes);
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            const std::int32_t here = place_in(window, h, w, p, q);
            store_block(dx + ((n * l.height + h) * l.width + w) * l.channels + c,
                        place == here ? g : Floats{}, lanes);
          }
        }
      });
    }
  });
}

// For overlapping windows: each element sums over all windows that contain it.
template <class T>
void max_pool_backward_overlapping(const Pool& a, int threads) {
  const PoolLayer l = a.layer;
  const PoolWindow window = a.layer.window;
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  for_image_rows(l.batch, l.height, threads, [=](Index n, Index h) {
    const Range ps = covering(h, window.kernel_h, window.stride, window.pad, l.out_height);
    for (Index w = 0; w < l.width; ++w) {
      const Range qs = covering(w, window.kernel_w, window.stride, window.pad, l.out_width);
      const Index to = ((n * l.height + h) * l.width + w) * l.channels;
      for_blocks(l.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index p = ps.begin; p < ps.end; ++p) {
          for (Index q = qs.begin; q < qs.end; ++q) {
            const Index from = ((n * l.out_height + p) * l.out_width + q) * l.channels + c;
            const std::int32_t here = place_in(window, h, w, p, q);
            const Ints place = __builtin_convertvector(load_bytes(a.index + from, lanes), Ints);
            sum += place == here ? load_block(dy + from, lanes) : Floats{};
          }
        }
        store_block(dx + to + c, sum, lanes);
      });
    }
  });
}

template <class T>
void max_pool_backward_typed(const Pool& a, int threads) {
  const PoolWindow window = a.layer.window;
  if (window.stride >= window.kernel_h && window.stride >= window.kernel_w) {
    max_pool_backward_apart<T>(a, threads);
  } else {
    max_pool_backward_overlapping<T>(a, threads);
  }
}

template <class T>
void avg_pool_typed(const Pool& a, int threads) {
  const PoolLayer l = a.layer;
  const PoolWindow window = a.layer.window;
  const auto* x = static_cast<const T*>(a.from);
  auto* y = static_cast<T*>(a.to);
  const auto size = static_cast<float>(window.kernel_h * window.kernel_w);
  for_image_rows(l.batch, l.out_height, threads, [=](Index n, Index p) {
    const Range hs = covered(p, window.kernel_h, window.stride, window.pad, l.height);
    for (Index q = 0; q < l.out_width; ++q) {
      const Range ws = covered(q, window.kernel_w, window.stride, window.pad, l.width);
      const Index to = ((n * l.out_height + p) * l.out_width + q) * l.channels;
      for_blocks(l.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index h = hs.begin; h < hs.end; ++h) {
          for (Index w = ws.begin; w < ws.end; ++w) {
            sum += load_block(x + ((n * l.height + h) * l.width + w) * l.channels + c, lanes);
          }
        }
        store_block(y + to + c, sum / size, lanes);
      });
    }
  });
}

template <class T>
void avg_pool_backward_typed(const Pool& a, int threads) {
  const PoolLayer l = a.layer;
  const PoolWindow window = a.layer.window;
  const auto* dy = static_cast<const T*>(a.from);
  auto* dx = static_cast<T*>(a.to);
  const auto size = static_cast<float>(window.kernel_h * window.kernel_w);
  for_image_rows(l.batch, l.height, threads, [=](Index n, Index h) {
    const Range ps = covering(h, window.kernel_h, window.stride, window.pad, l.out_height);
    for (Index w = 0; w < l.width; ++w) {
      const Range qs = covering(w, window.kernel_w, window.stride, window.pad, l.out_width);
      const Index to = ((n * l.height + h) * l.width + w) * l.channels;
      for_blocks(l.channels, [=](Index c, int lanes) {
        Floats sum = {};
        for (Index p = ps.begin; p < ps.end; ++p) {
          for (Index q = qs.begin; q < qs.end; ++q) {
            const Index from = ((n * l.out_height + p) * l.out_width + q) * l.channels + c;
            sum += load_block(dy + from, lanes);
          }
        }
        store_block(dx + to + c, sum / size, lanes);
      });
    }
  });
}

}  // namespace

void max_pool(const Pool& a, int threads) {
  typed<Pool, max_pool_typed<float>, max_pool_typed<Bf16>>(a, threads);
}

void max_pool_backward(const Pool& a, int threads) {
  typed<Pool, max_pool_backward_typed<float>, max_pool_backward_typed<Bf16>>(a, threads);
}

void avg_pool(const Pool& a, int threads) {
  typed<Pool, avg_pool_typed<float>, avg_pool_typed<Bf16>>(a, threads);
}

void avg_pool_backward(const Pool& a, int threads) {
  typed<Pool, avg_pool_backward_typed<float>, avg_pool_backward_typed<Bf16>>(a, threads);
}

}  // namespace winnow::train::kernels::WINNOW_ISA
