#include "gpilot/physics/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include "gpilot/core/suggest.hpp"

namespace gpilot::physics {

namespace {

using Function = double (*)(double);

struct Function1 {
  std::string_view name;
  Function value, slope;
};

double sign(double x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

double square(double x) {
  return x * x;
}

constexpr std::array kFunctions1{
    Function1{"sin", [](double x) { return std::sin(x); }, [](double x) { return std::cos(x); }},
    Function1{"cos", [](double x) { return std::cos(x); }, [](double x) { return -std::sin(x); }},
    Function1{"tan", [](double x) { return std::tan(x); }, [](double x) { return 1.0 + square(std::tan(x)); }},
    Function1{"asin", [](double x) { return std::asin(x); }, [](double x) { return 1.0 / std::sqrt(1.0 - x * x); }},
    Function1{"acos", [](double x) { return std::acos(x); }, [](double x) { return -1.0 / std::sqrt(1.0 - x * x); }},
    Function1{"atan", [](double x) { return std::atan(x); }, [](double x) { return 1.0 / (1.0 + x * x); }},
    Function1{"sinh", [](double x) { return std::sinh(x); }, [](double x) { return std::cosh(x); }},
    Function1{"cosh", [](double x) { return std::cosh(x); }, [](double x) { return std::sinh(x); }},
    Function1{"tanh", [](double x) { return std::tanh(x); }, [](double x) { return 1.0 - square(std::tanh(x)); }},
    Function1{"exp", [](double x) { return std::exp(x); }, [](double x) { return std::exp(x); }},
    Function1{"log", [](double x) { return std::log(x); }, [](double x) { return 1.0 / x; }},
    Function1{"sqrt", [](double x) { return std::sqrt(x); }, [](double x) { return 0.5 / std::sqrt(x); }},
    Function1{"abs", [](double x) { return std::abs(x); }, sign},
    Function1{"sign", sign, [](double) { return 0.0; }}};

constexpr std::array<std::string_view, 3> kFunctions2{"min", "max", "atan2"};

template <typename Test>
Vector where(const Vector& a, const Vector& b, Test test) {
  const Index N = std::max(a.size(), b.size());
  return spread(a, N).binaryExpr(spread(b, N), test);
}

Dual two_arguments(std::size_t function, const Dual& a, const Dual& b) {
  if (kFunctions2[function] == "atan2") {
    const auto norm = [](double x, double y) { return x * x + y * y; };
    const Vector n = where(a.v, b.v, norm);
    return combine(a, b, where(a.v, b.v, [](double y, double x) { return std::atan2(y, x); }),
                   spread(b.v, n.size()).cwiseQuotient(n), -spread(a.v, n.size()).cwiseQuotient(n));
  }
  const bool least = kFunctions2[function] == "min";
  const Vector first = where(a.v, b.v, [least](double x, double y) { return (least ? x <= y : x >= y) ? 1.0 : 0.0; });
  const Vector value = where(a.v, b.v, [least](double x, double y) { return least ? std::min(x, y) : std::max(x, y); });
  return combine(a, b, value, first, Vector(1.0 - first.array()));
}

/// Where in the text, in words: the place, and what stands there.
std::string pointed_at(std::string_view text, std::size_t position) {
  constexpr std::size_t kWidth = 30;
  if (position >= text.size()) {
    return "at its end";
  }
  std::string part;
  for (const char c : text.substr(position, kWidth)) {
    part += c >= ' ' && c <= '~' ? c : '?';
  }
  return fmt::format("at character {}: '{}{}'", position + 1, part, text.size() > position + kWidth ? ".." : "");
}

/// A recursive descent over the text.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& names) : text_(text), names_(names) {}

  std::unique_ptr<Node> parse() {
    auto tree = sum();
    skip_blanks();
    if (at_ < text_.size()) {
      fail(fmt::format("expected an operator or the end, not {}", found()));
    }
    return tree;
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { throw FormulaError(reason, text_, at_); }

  std::string found() const {
    if (at_ >= text_.size()) {
      return "the end";
    }
    const char c = text_[at_];
    return c >= ' ' && c <= '~' ? fmt::format("'{}'", c) : fmt::format("the byte {:#x}", static_cast<unsigned char>(c));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  std::unique_ptr<Node> binary(Op op, std::size_t position, std::unique_ptr<Node> a, std::unique_ptr<Node> b) {
    auto node = std::make_unique<Node>();
    node->op = op;
    node->position = position;
    node->a = std::move(a);
    node->b = std::move(b);
    return node;
  }

  std::unique_ptr<Node> sum() {
    auto left = product();
    for (char c = peek(); c == '+' || c == '-'; c = peek()) {
      const std::size_t position = at_++;
      left = grown(binary(c == '+' ? Op::kAdd : Op::kSubtract, position, std::move(left), product()));
    }
    return left;
  }

  std::unique_ptr<Node> product() {
    auto left = signed_term();
    for (char c = peek(); c == '*' || c == '/'; c = peek()) {
      const std::size_t position = at_++;
      left = grown(binary(c == '*' ? Op::kMultiply : Op::kDivide, position, std::move(left), signed_term()));
    }
    return left;
  }

  std::unique_ptr<Node> signed_term() {
    const char c = peek();
    if (c != '-' && c != '+') {
      return powers();
    }
    const Deeper deeper(*this);
    const std::size_t position = at_++;
    auto of = signed_term();
    return c == '+' ? std::move(of) : binary(Op::kNegate, position, std::move(of), nullptr);
  }

  std::unique_ptr<Node> powers() {
    auto left = term();
    if (peek() != '^') {
      return left;
    }
    const Deeper deeper(*this);
    const std::size_t position = at_++;
    return binary(Op::kPower, position, std::move(left), signed_term());
  }

  std::unique_ptr<Node> term() {
    const char c = peek();
    if (c == '(') {
      const Deeper deeper(*this);
      ++at_;
      auto inner = sum();
      expect(')');
      return inner;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
      return number();
    }
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
      return name();
    }
    fail(fmt::format("expected a number, a name or '(', not {}", found()));
  }

  std::unique_ptr<Node> number() {
    auto node = std::make_unique<Node>();
    node->position = at_;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node->number);
    if (error != std::errc() || !std::isfinite(node->number)) {
      fail("expected a number that a double can hold");
    }
    at_ = static_cast<std::size_t>(end - text_.data());
    return node;
  }

  std::unique_ptr<Node> name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    const std::string word(text_.substr(begin, at_ - begin));
    if (peek() == '(') {
      return call(word, begin);
    }
    auto node = std::make_unique<Node>();
    node->position = begin;
    const auto known = std::ranges::find(names_, word);
    if (known != names_.end()) {
      node->op = Op::kName;
      node->index = static_cast<std::size_t>(known - names_.begin());
      return node;
    }
    if (word == "pi") {
      node->number = std::numbers::pi;
      return node;
    }
    at_ = begin;
    fail(unknown_name_message("name", word, names_) + "; every other name needs an entry among the parameters");
  }

  std::unique_ptr<Node> call(const std::string& word, std::size_t begin) {
    const auto one = std::ranges::find(kFunctions1, word, &Function1::name);
    const auto two = std::ranges::find(kFunctions2, word);
    if (one == kFunctions1.end() && two == kFunctions2.end()) {
      at_ = begin;
      fail(unknown_name_message("function", word, function_names()));
    }
    const Deeper deeper(*this);
    ++at_;
    auto node = std::make_unique<Node>();
    node->position = begin;
    node->a = sum();
    if (two != kFunctions2.end()) {
      expect(',');
      node->b = sum();
      node->op = Op::kFunction2;
      node->index = static_cast<std::size_t>(two - kFunctions2.begin());
    } else {
      node->op = Op::kFunction1;
      node->index = static_cast<std::size_t>(one - kFunctions1.begin());
    }
    expect(')');
    return node;
  }

  void expect(char c) {
    if (peek() != c) {
      fail(fmt::format("expected '{}', not {}", c, found()));
    }
    ++at_;
  }

  /// Counts levels: neither reading nor evaluating a formula may exhaust the stack.
  struct Deeper {
    explicit Deeper(Parser& owner) : parser(owner) {
      if (++parser.depth_ > kDeepest) {
        parser.fail(fmt::format("nested deeper than {} levels", kDeepest));
      }
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Parser& parser;
  };

  /// A long sum is as deep a tree as it has terms.
  std::unique_ptr<Node> grown(std::unique_ptr<Node> node) {
    if (++terms_ > kMostTerms) {
      fail(fmt::format("expected at most {} operations", kMostTerms));
    }
    return node;
  }

  static constexpr int kMostTerms = 1000;

  std::string_view text_;
  const std::vector<std::string>& names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int terms_ = 0;
};

Dual evaluate_node(const Node& n, const std::vector<Dual>& values) {
  if (n.op == Op::kNumber) {
    return Dual::number(n.number);
  }
  if (n.op == Op::kName) {
    return values[n.index];
  }
  const Dual a = evaluate_node(*n.a, values);
  return operate(n.op, n.index, a, n.b ? evaluate_node(*n.b, values) : a);
}

void collect_names(const Node& n, std::set<std::size_t>& found) {
  if (n.op == Op::kName) {
    found.insert(n.index);
  }
  for (const Node* child : {n.a.get(), n.b.get()}) {
    if (child != nullptr) {
      collect_names(*child, found);
    }
  }
}

void check_node(const Node& n, const std::vector<Dual>& values, std::string_view text, std::string_view where) {
  for (const Node* child : {n.a.get(), n.b.get()}) {
    if (child != nullptr) {
      check_node(*child, values, text, where);
    }
  }
  const double value = evaluate_node(n, values).v(0);
  if (!std::isfinite(value)) {
    const bool by_zero = n.op == Op::kDivide && evaluate_node(*n.b, values).v(0) == 0.0;
    throw FormulaError(
        fmt::format("{} {}", by_zero ? "division by zero" : fmt::format("the value is {}", value), where), text,
        n.position);
  }
}

}  // namespace

Dual operate(Op op, std::size_t function, const Dual& a, const Dual& b) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      return a / b;
    case Op::kPower:
      return power(a, b);
    case Op::kNegate:
      return -a;
    case Op::kFunction1:
      return apply(a, kFunctions1[function].value, kFunctions1[function].slope);
    case Op::kFunction2:
      return two_arguments(function, a, b);
    case Op::kNumber:
    case Op::kName:
      break;
  }
  return {};
}

FormulaError::FormulaError(const std::string& reason, std::string_view text, std::size_t position)
    : InputError(fmt::format("{}, {}", reason, pointed_at(text, position))), position_(position) {}

Expression::Expression(std::string text, const std::vector<std::string>& names) : text_(std::move(text)) {
  if (text_.size() > kLongestFormula) {
    throw FormulaError(fmt::format("a formula of {} bytes, expected at most {}", text_.size(), kLongestFormula), text_,
                       kLongestFormula);
  }
  root_ = std::shared_ptr<const Node>(Parser(text_, names).parse());
}

std::vector<std::size_t> Expression::used() const {
  std::set<std::size_t> found;
  collect_names(*root_, found);
  return {found.begin(), found.end()};
}

Dual Expression::evaluate(const std::vector<Dual>& values) const {
  return evaluate_node(*root_, values);
}

void Expression::check_finite(const std::vector<double>& values, std::string_view where) const {
  std::vector<Dual> duals;
  duals.reserve(values.size());
  for (const double value : values) {
    duals.push_back(Dual::number(value));
  }
  check_node(*root_, duals, text_, where);
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function1& function : kFunctions1) {
    names.emplace_back(function.name);
  }
  names.insert(names.end(), kFunctions2.begin(), kFunctions2.end());
  return names;
}

std::string_view function_name(const Node& node) {
  return node.op == Op::kFunction2 ? kFunctions2[node.index] : kFunctions1[node.index].name;
}

}  // namespace gpilot::physics
