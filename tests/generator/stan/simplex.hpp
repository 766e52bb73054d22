// The simplex of Stan 2.37, softmax of a vector that sums to zero, in place of 2.35's stick-breaking.
//
// Stan Reference Manual 2.37, "Unit simplex": the inverse isometric log-ratio transform, log|J| = sum_k log x_k +
// log(K) / 2. Include it before <stan/math.hpp>, whose own headers of that name it shuts out.
#ifndef STAN_MATH_PRIM_FUN_SIMPLEX_CONSTRAIN_HPP
#define STAN_MATH_PRIM_FUN_SIMPLEX_CONSTRAIN_HPP
#define STAN_MATH_REV_FUN_SIMPLEX_CONSTRAIN_HPP
#include <stan/math/prim/meta.hpp>
#include <cmath>
#include <vector>

namespace stan {
namespace math {

// The simplex x; the log-Jacobian is added to lp.
template <typename Vec, require_eigen_vector_t<Vec>* = nullptr>
plain_type_t<Vec> simplex_constrain(const Vec& given, value_type_t<Vec>& lp) {
  using std::exp;
  using std::log;
  using T = value_type_t<Vec>;
  const plain_type_t<Vec> y = given;
  const Eigen::Index n = y.size();
  plain_type_t<Vec> x(n + 1);
  T tail(0.0);
  for (Eigen::Index i = n; i > 0; --i) {
    const T w = y.coeff(i - 1) / std::sqrt(i * (i + 1.0));
    x.coeffRef(i) = tail - w * static_cast<double>(i);
    tail += w;
  }
  x.coeffRef(0) = tail;
  T greatest = tail;
  for (Eigen::Index i = 1; i <= n; ++i)
    if (x.coeff(i) > greatest) greatest = x.coeff(i);
  T total(0.0);
  for (Eigen::Index i = 0; i <= n; ++i) total += exp(x.coeff(i) - greatest);
  const T norm = greatest + log(total);
  lp += 0.5 * std::log(n + 1.0);
  for (Eigen::Index i = 0; i <= n; ++i) {
    const T log_x = x.coeff(i) - norm;
    lp += log_x;
    x.coeffRef(i) = exp(log_x);
  }
  return x;
}

template <typename Vec, require_eigen_vector_t<Vec>* = nullptr>
plain_type_t<Vec> simplex_constrain(const Vec& y) {
  value_type_t<Vec> unused(0.0);
  return simplex_constrain(y, unused);
}

template <bool Jacobian, typename Vec, require_not_std_vector_t<Vec>* = nullptr>
plain_type_t<Vec> simplex_constrain(const Vec& y, return_type_t<Vec>& lp) {
  if (Jacobian) return simplex_constrain(y, lp);
  return simplex_constrain(y);
}

}  // namespace math
}  // namespace stan
#endif
