#include "viewer/render/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace hitch::render {
namespace {

std::string fixed(double value, int digits) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, value);
  return buffer.data();
}

// Three significant digits, no trailing noise: 1.23, 12.3, 123.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string count_text(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string count_text(double value) {
  if (value > 0 && value < 0.05) return "<0.1";
  if (value < 100 && value != std::floor(value)) return fixed(value, 1);
  return count_text(static_cast<std::uint64_t>(std::llround(std::max(0.0, std::min(value, 9e18)))));
}

std::string ms_text(double ns) { return fixed(ns / 1e6, 2); }

std::string signed_ms_text(double ns) {
  const std::string text = fixed(ns / 1e6, 2);
  if (text == "-0.00" || text == "0.00") return "0.00";
  return ns > 0 ? std::string("+").append(text) : text;
}

std::string duration_text(double ns) {
  if (ns < 0) return std::string("-").append(duration_text(-ns));
  if (ns < 999.5) return fixed(ns, 0) + " ns";
  if (ns < 999.5e3) return three_digits(ns / 1e3) + " us";
  if (ns < 999.5e6) return three_digits(ns / 1e6) + " ms";
  if (ns < 100e9) return three_digits(ns / 1e9) + " s";
  const auto seconds = static_cast<std::uint64_t>(std::llround(std::min(ns / 1e9, 9e15)));
  if (seconds < 3600) {
    return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  }
  return count_text(seconds / 3600) + " h " + std::to_string(seconds / 60 % 60) + " min";
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fixed(bytes, 0) + " B";
  double value = bytes / 1024;
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return three_digits(value) + " " + kUnits[unit];
}

std::string percent_text(double share) {
  const double percent = share * 100;
  const double size = std::abs(percent);
  if (size != 0 && size < 0.005) return "<0.01 %";
  return fixed(percent, size < 1 ? 2 : size < 9.95 ? 1 : 0) + " %";
}

std::string times_text(double factor) { return fixed(factor, factor < 9.95 ? 1 : 0) + "x"; }

std::string date_text(std::uint64_t realtime_ns) {
  if (realtime_ns == 0) return "";
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  std::array<char, 64> buffer{};
  if (std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) return "";
  return buffer.data();
}

}  // namespace hitch::render
