#include "dedup/verify/affine.h"

#include <cmath>

namespace winnow::dedup {

Affine inverse(const Affine& map) noexcept {
  const double determinant = map.determinant();
  Affine back{.xx = map.yy / determinant,
              .xy = -map.xy / determinant,
              .yx = -map.yx / determinant,
              .yy = map.xx / determinant};
  back.x0 = -(back.xx * map.x0 + back.xy * map.y0);
  back.y0 = -(back.yx * map.x0 + back.yy * map.y0);
  return back;
}

Affine after(const Affine& second, const Affine& first) noexcept {
  return {.xx = second.xx * first.xx + second.xy * first.yx,
          .xy = second.xx * first.xy + second.xy * first.yy,
          .x0 = second.x_of(first.x0, first.y0),
          .yx = second.yx * first.xx + second.yy * first.yx,
          .yy = second.yx * first.xy + second.yy * first.yy,
          .y0 = second.y_of(first.x0, first.y0)};
}

double zoom_of(const Affine& map) noexcept { return std::sqrt(std::fabs(map.determinant())); }

double stretch_of(const Affine& map) noexcept {
  const double squares = map.xx * map.xx + map.xy * map.xy + map.yx * map.yx + map.yy * map.yy;
  return squares / (2 * std::fabs(map.determinant()));
}

Affine map_between(const Place& from, const Place& to, bool is_mirrored) noexcept {
  const double scale = static_cast<double>(to.scale) / from.scale;
  const double mirror = is_mirrored ? -1 : 1;
  const double cos_from = std::cos(static_cast<double>(from.angle));
  const double sin_from = std::sin(static_cast<double>(from.angle));
  const double cos_to = std::cos(static_cast<double>(to.angle));
  const double sin_to = std::sin(static_cast<double>(to.angle));
  // From one window's frame, mirrored if need be, to the other's.
  Affine map{.xx = scale * (cos_to * cos_from + mirror * sin_to * sin_from),
             .xy = scale * (cos_to * sin_from - mirror * sin_to * cos_from),
             .yx = scale * (sin_to * cos_from - mirror * cos_to * sin_from),
             .yy = scale * (sin_to * sin_from + mirror * cos_to * cos_from)};
  map.x0 = to.x - map.xx * from.x - map.xy * from.y;
  map.y0 = to.y - map.yx * from.x - map.yy * from.y;
  return map;
}

}  // namespace winnow::dedup
