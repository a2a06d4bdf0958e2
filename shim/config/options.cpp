#include "config/options.h"

#include <cstring>

namespace hitch::config {

const OptionRow kOptionRows[] = {
#define HITCH_OPTION(field, env, flag, type, fallback, values, sentence) \
  {#field, env, flag, OptionType::type, fallback, values, sentence, offsetof(Options, field)},
#include "config/options.def"
#undef HITCH_OPTION
};
const std::size_t kOptionCount = sizeof(kOptionRows) / sizeof(kOptionRows[0]);

namespace {

void* field_of(Options& options, const OptionRow& row) {
  return reinterpret_cast<char*>(&options) + row.offset;
}

bool parse_number(const char* text, std::uint64_t& value) {
  if (*text == '\0') return false;
  std::uint64_t result = 0;
  for (; *text != '\0'; ++text) {
    if (*text < '0' || *text > '9') return false;
    const auto digit = static_cast<std::uint64_t>(*text - '0');
    if (result > (~std::uint64_t{0} - digit) / 10) return false;
    result = result * 10 + digit;
  }
  value = result;
  return true;
}

// Digits with at most one point; strtod is not used because it reads the locale, which the game may
// not have set up yet.
bool parse_real(const char* text, double& value) {
  double result = 0;
  double scale = 0;
  bool digits = false;
  for (; *text != '\0'; ++text) {
    if (*text == '.' && scale == 0) {
      scale = 1;
      continue;
    }
    if (*text < '0' || *text > '9') return false;
    digits = true;
    result = result * 10 + (*text - '0');
    scale *= 10;
  }
  if (!digits || result > 1e15) return false;
  value = scale > 1 ? result / scale : result;
  return true;
}

bool parse_choice(const char* values, const char* text, std::uint32_t& value) {
  const std::size_t length = std::strlen(text);
  std::uint32_t position = 0;
  for (const char* word = values;; ++position) {
    const char* end = std::strchr(word, '|');
    const std::size_t word_length =
        end != nullptr ? static_cast<std::size_t>(end - word) : std::strlen(word);
    if (word_length == length && std::memcmp(word, text, length) == 0) {
      value = position;
      return true;
    }
    if (end == nullptr) return false;
    word = end + 1;
  }
}

}  // namespace

const char* set_option(Options& options, const OptionRow& row, const char* text) {
  void* field = field_of(options, row);
  switch (row.type) {
    case OptionType::Text: {
      const std::size_t length = std::strlen(text);
      if (length > 255) return "is longer than 255 bytes";
      std::memcpy(static_cast<Text255*>(field)->text, text, length + 1);
      return nullptr;
    }
    case OptionType::Number:
      return parse_number(text, *static_cast<std::uint64_t*>(field)) ? nullptr
                                                                     : "is not a whole number";
    case OptionType::Real:
      return parse_real(text, *static_cast<double*>(field)) ? nullptr
                                                            : "is not a positive decimal number";
    case OptionType::Switch:
      if ((text[0] != '0' && text[0] != '1') || text[1] != '\0') return "is neither 0 nor 1";
      *static_cast<bool*>(field) = text[0] == '1';
      return nullptr;
    case OptionType::Choice: {
      std::uint32_t position = 0;
      if (!parse_choice(row.values, text, position)) return "is not one of its values";
      *static_cast<std::uint32_t*>(field) = position;
      return nullptr;
    }
  }
  return "has an unknown type";
}

void set_defaults(Options& options) {
  for (std::size_t i = 0; i < kOptionCount; ++i)
    set_option(options, kOptionRows[i], kOptionRows[i].fallback);
}

const char* find_variable(const char* const* environment, const char* name) {
  if (environment == nullptr) return nullptr;
  const std::size_t length = std::strlen(name);
  for (; *environment != nullptr; ++environment) {
    if (std::strncmp(*environment, name, length) == 0 && (*environment)[length] == '=') {
      return *environment + length + 1;
    }
  }
  return nullptr;
}

void read_environment(Options& options, const char* const* environment, Complain complain) {
  set_defaults(options);
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const OptionRow& row = kOptionRows[i];
    const char* value = find_variable(environment, row.env);
    if (value == nullptr) continue;
    const char* why = set_option(options, row, value);
    if (why != nullptr && complain != nullptr) complain(row, value, why);
  }
}

}  // namespace hitch::config
