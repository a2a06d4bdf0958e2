// The options of a recording as a plain struct, parsed from environment variables by the shim (no
// C++ runtime, valid before libc is initialised) and by the recorder.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hitch::config {

enum class OptionType : std::uint8_t { Text, Number, Real, Switch, Choice };

struct Text255 {
  char text[256];
};

namespace option_storage {
using Text = Text255;
using Number = std::uint64_t;
using Real = double;
using Switch = bool;
using Choice = std::uint32_t;
}  // namespace option_storage

struct Options {
#define HITCH_OPTION(field, env, flag, type, fallback, values, sentence) option_storage::type field;
#include "config/options.def"
#undef HITCH_OPTION
};

// One row of options.def. `fallback` is the default as text.
struct OptionRow {
  const char* field;
  const char* env;
  const char* flag;
  OptionType type;
  const char* fallback;
  const char* values;
  const char* sentence;
  std::size_t offset;  // of the field in Options
};
extern const OptionRow kOptionRows[];
extern const std::size_t kOptionCount;

// All defaults. Never fails.
void set_defaults(Options& options);

// Sets one option from its text. Returns nullptr, or a static sentence fragment that says what is
// wrong
// ("is not a whole number", "is not one of its values", "is longer than 255 bytes").
const char* set_option(Options& options, const OptionRow& row, const char* text);

// Looks up `name` in a NULL-terminated environment (may itself be null). Returns the value or
// nullptr.
const char* find_variable(const char* const* environment, const char* name);

// Defaults, then every HITCH_* variable present. Bad values keep the default; `complain(row, value,
// why)` is called for each when not null.
using Complain = void (*)(const OptionRow& row, const char* value, const char* why);
void read_environment(Options& options, const char* const* environment, Complain complain);

}  // namespace hitch::config
