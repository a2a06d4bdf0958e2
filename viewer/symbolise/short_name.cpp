#include "viewer/symbolise/short_name.h"

#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace hitch::symbolise {
namespace {

// Demanglers take time and stack that grow with the name; nobody reads longer ones.
constexpr std::size_t kMaxMangled = 4096;
constexpr int kMaxDepth = 64;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

bool ends_with_word(std::string_view text) { return !text.empty() && is_word(text.back()); }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Arguments that nearly always have their default value.
bool is_default_argument(std::string_view text) {
  constexpr std::array kDefaults = {
      std::string_view("std::allocator<"), std::string_view("std::char_traits<"),
      std::string_view("std::less<"),      std::string_view("std::hash<"),
      std::string_view("std::equal_to<"),  std::string_view("std::default_delete<")};
  for (const std::string_view one : kDefaults)
    if (text.starts_with(one)) return true;
  return false;
}

// std::basic_string<char> has a name of its own, and so have its streams.
bool use_typedef(std::string& owner, const std::string& character) {
  constexpr std::string_view kBasic = "std::basic_";
  const std::size_t at = owner.rfind(kBasic);
  if (at == std::string::npos || owner.find("::", at + 5) != std::string::npos) return false;
  const std::string name = owner.substr(at + kBasic.size());
  std::string prefix;
  if (character == "wchar_t") {
    prefix = "w";
  } else if (character == "char16_t") {
    prefix = "u16";
  } else if (character == "char32_t") {
    prefix = "u32";
  } else if (character != "char") {
    return false;
  }
  owner.replace(at, std::string::npos, "std::" + prefix + name);
  return true;
}

class Shortener {
 public:
  explicit Shortener(std::string_view text) : text_(text) {}

  // Empty when the text makes no sense as a name.
  std::string run() {
    std::string out = name();
    if (failed_ || at_ < text_.size()) return {};
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  bool looking_at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Past the bracket that closes the one at at_.
  void skip_balanced() {
    int depth = 0;
    for (; !at_end(); ++at_) {
      const char c = text_[at_];
      if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
      if (c == '>' && at_ > 0 && text_[at_ - 1] == '-') continue;
      if ((c == ')' || c == ']' || c == '}' || c == '>') && --depth == 0) {
        ++at_;
        return;
      }
    }
    failed_ = true;
  }

  // What both names and arguments contain. False: nothing of the kind here.
  bool common(std::string& out) {
    if (looking_at("(anonymous namespace)")) {
      at_ += 21;
      out += "(anon)";
    } else if (looking_at("{lambda(")) {
      at_ += 7;
      skip_balanced();
      out += "{lambda";
    } else if (looking_at("[abi:")) {
      skip_balanced();
    } else if (looking_at("operator") && !is_word(peek(8)) && !ends_with_word(out)) {
      operator_name(out);
    } else if (peek() == '<') {
      template_arguments(out);
    } else {
      return false;
    }
    return true;
  }

  void operator_name(std::string& out) {
    out += "operator";
    at_ += 8;
    constexpr std::array kSymbols = {
        std::string_view("<=>"), std::string_view("<<="),  std::string_view(">>="),
        std::string_view("->*"), std::string_view("()"),   std::string_view("[]"),
        std::string_view("->"),  std::string_view("<<"),   std::string_view(">>"),
        std::string_view("<="),  std::string_view(">="),   std::string_view("<"),
        std::string_view(">"),   std::string_view("\"\" ")};
    for (const std::string_view symbol : kSymbols) {
      if (looking_at(symbol)) {
        out += symbol;
        at_ += symbol.size();
        if (looking_at(" <")) ++at_;
        return;
      }
    }
    if (peek() == ' ') {  // operator new[], or a conversion to a type
      while (!at_end() && peek() != '(') {
        if (!common(out)) out += text_[at_++];
        if (failed_) return;
      }
    } else {
      while (!at_end() && peek() != '(' && peek() != '<') out += text_[at_++];
    }
  }

  void template_arguments(std::string& out) {
    if (++depth_ > kMaxDepth) failed_ = true;
    ++at_;
    std::vector<std::string> arguments;
    while (!failed_) {
      while (peek() == ' ') ++at_;
      if (peek() == '>') break;
      if (at_end()) {
        failed_ = true;
        break;
      }
      std::string one = argument();
      const bool dropped =
          arguments.empty() ? one.starts_with("std::char_traits<") : is_default_argument(one);
      if (!dropped) arguments.push_back(std::move(one));
      if (peek() == ',') ++at_;
    }
    ++at_;
    --depth_;
    if (failed_ || arguments.empty()) return;
    if (use_typedef(out, arguments.front())) return;
    std::string list;
    for (const std::string& one : arguments) list += (list.empty() ? "" : ", ") + one;
    out += '<' + (list.size() > kMaxTemplateText ? std::string("...") : list) + '>';
  }

  // A type or value, up to the ',' or '>' that ends it.
  std::string argument() {
    std::string out;
    int parentheses = 0;
    while (!at_end() && !failed_) {
      const char c = peek();
      if (parentheses == 0 && (c == ',' || c == '>')) break;
      if (common(out)) continue;
      if (c == '-' && peek(1) == '>') {
        out += "->";
        at_ += 2;
        continue;
      }
      if (c == '(') ++parentheses;
      if (c == ')') --parentheses;
      out += c;
      ++at_;
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }

  void skip_qualifiers() {
    constexpr std::array kQualifiers = {std::string_view(" const"), std::string_view(" volatile"),
                                        std::string_view(" &&"), std::string_view(" &"),
                                        std::string_view(" noexcept")};
    for (bool again = true; again;) {
      again = false;
      for (const std::string_view one : kQualifiers) {
        if (looking_at(one)) {
          at_ += one.size();
          again = true;
        }
      }
    }
  }

  std::string name() {
    std::string out;
    while (!at_end() && !failed_) {
      if (common(out)) continue;
      const char c = peek();
      if (looking_at("decltype (") || looking_at("decltype(")) {
        at_ = text_.find('(', at_);
        skip_balanced();
      } else if (c == '(') {
        skip_balanced();
        skip_qualifiers();
        if (!at_end() && !looking_at("::") && !looking_at(" [clone")) failed_ = true;
      } else if (looking_at(" [clone")) {
        at_ = text_.size();
      } else if (c == ' ') {
        out.clear();  // that was the return type
        ++at_;
      } else if (looking_at("{unnamed type#") || looking_at("{default arg#")) {
        const std::size_t from = at_;
        skip_balanced();
        out += text_.substr(from, at_ - from);
      } else {
        out += c;
        ++at_;
      }
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
};

// Legacy Rust: the last path element is h and sixteen hexadecimal digits.
void drop_rust_hash(std::string& name) {
  constexpr std::size_t kLength = 19;  // "::h0123456789abcdef"
  if (name.size() <= kLength || name.compare(name.size() - kLength, 3, "::h") != 0) return;
  for (std::size_t i = name.size() - 16; i < name.size(); ++i)
    if (std::isxdigit(static_cast<unsigned char>(name[i])) == 0) return;
  name.resize(name.size() - kLength);
}

}  // namespace

std::string demangle(const std::string& mangled) {
  if (mangled.size() > kMaxMangled || !mangled.starts_with("_Z")) return mangled;
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (text == nullptr || status != 0) return mangled;
  std::string result(text);
  std::free(text);
  drop_rust_hash(result);
  return result;
}

std::string short_name(std::string_view demangled) {
  std::string text(demangled);
  std::string prefix;
  for (const std::string_view special : {"non-virtual thunk to ", "virtual thunk to ",
                                         "covariant return thunk to ", "guard variable for "}) {
    if (text.starts_with(special)) {
      prefix = special;
      text.erase(0, special.size());
      break;
    }
  }
  replace_all(text, "std::__cxx11::", "std::");
  replace_all(text, "std::__1::", "std::");
  std::string result = Shortener(text).run();
  return result.empty() ? std::string(demangled) : prefix + result;
}

}  // namespace hitch::symbolise
