// Why bytes could not be read, in words a user can act on.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace hitch::load {

struct LoadError {
  std::string what;                     // "is not a hitchtrace recording"
  std::optional<std::uint64_t> offset;  // byte in the file where it shows
  std::string advice;                   // what to do; may be empty

  std::string sentence() const {
    std::string text = what;
    if (offset) text += " (at byte " + std::to_string(*offset) + ")";
    if (!advice.empty()) text += ": " + advice;
    return text;
  }
};

// A value or the reason why there is none.
template <class T>
class Loaded {
 public:
  Loaded(T value) : state_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Loaded(LoadError error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const LoadError& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, LoadError> state_;
};

}  // namespace hitch::load
