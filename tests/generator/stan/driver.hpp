// What every program compiled by stanc is asked here: its size and names, its log density with gradient, its values.
//
// The generated classes derive from `program` instead of Stan's model_base_crtp, whose virtual methods would have the
// compiler instantiate each program's log density sixteen times.
#include "simplex.hpp"
#include <stan/math.hpp>
#include <stan/io/deserializer.hpp>
#include <stan/io/json/json_data.hpp>
#include <stan/io/serializer.hpp>
#include <stan/model/indexing.hpp>
#include <stan/model/rethrow_located.hpp>
#include <stan/services/util/create_rng.hpp>
#include <iomanip>
#include <memory>

struct program {
  std::size_t num_params_r__;
  explicit program(std::size_t n) : num_params_r__(n) {}
  virtual ~program() {}
  virtual std::string model_name() const = 0;
  virtual void constrained_param_names(std::vector<std::string>&, bool, bool) const = 0;
  virtual void unconstrained_param_names(std::vector<std::string>&, bool, bool) const = 0;
};

inline std::string number(double x) {
  if (std::isnan(x)) return "NaN";
  if (std::isinf(x)) return x > 0 ? "Infinity" : "-Infinity";
  std::ostringstream out;
  out << std::setprecision(17) << x;
  return out.str();
}

inline std::string list(const std::vector<double>& xs) {
  std::string out = "[";
  for (std::size_t i = 0; i < xs.size(); ++i) out += (i ? "," : "") + number(xs[i]);
  return out + "]";
}

inline std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return out + "\"";
}

// One line of JSON a point: {"lp": ., "grad": [.], "values": [.]}, or {"error": "what Stan throws"}.
template <class M>
std::string at(const M& m, std::vector<double> u) {
  std::vector<int> no_ints;
  std::ostringstream messages;
  std::string out = "{";
  try {
    stan::math::nested_rev_autodiff nested;
    Eigen::Matrix<stan::math::var, -1, 1> q(u.size());
    for (std::size_t i = 0; i < u.size(); ++i) q.coeffRef(i) = u[i];
    stan::math::var lp = m.template log_prob_impl<false, true>(q, no_ints, &messages);
    const double value = lp.val();
    stan::math::grad(lp.vi_);
    std::vector<double> slope;
    for (std::size_t i = 0; i < u.size(); ++i) slope.push_back(q.coeff(i).adj());
    out += "\"lp\":" + number(value) + ",\"grad\":" + list(slope) + ",";
  } catch (const std::exception& e) {
    out += "\"error\":" + quoted(e.what()) + ",";
  }
  std::vector<double> values;
  try {
    std::vector<std::string> names;
    m.constrained_param_names(names, true, false);
    values.assign(names.size(), NAN);
    stan::rng_t rng = stan::services::util::create_rng(1, 1);
    m.write_array_impl(rng, u, no_ints, values, true, false, &messages);
  } catch (const std::exception& e) {
    out += "\"values_error\":" + quoted(e.what()) + ",";
  }
  return out + "\"values\":" + list(values) + "}";
}

// The size and the names, then one line for each point that stands on a line of the input.
template <class M>
int answer(stan::io::var_context& data) {
  try {
    const M m(data, 1, nullptr);
    std::vector<std::string> names;
    m.constrained_param_names(names, true, false);
    std::cout << "{\"dim\":" << m.num_params_r__ << ",\"names\":[";
    for (std::size_t i = 0; i < names.size(); ++i) std::cout << (i ? "," : "") << quoted(names[i]);
    std::cout << "]}" << std::endl;
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream in(line);
      std::vector<double> u;
      for (double x; in >> x;) u.push_back(x);
      std::cout << at(m, u) << std::endl;
    }
  } catch (const std::exception& e) {
    std::cout << "{\"error\":" << quoted(e.what()) << "}" << std::endl;
  }
  return 0;
}

// The program's number and the file of its data are the arguments of the executable.
inline int run(const std::vector<int (*)(stan::io::var_context&)>& programs, char** arguments) {
  std::ifstream file(arguments[2]);
  stan::json::json_data data(file);
  return programs.at(std::stoul(arguments[1]))(data);
}
