#include "viewer/model/trace.h"

#include <algorithm>
#include <charconv>

namespace hitch::model {
namespace {

template <class Row>
std::span<const Row> rows_of(const std::vector<Row>& rows, FrameId frame) {
  struct ByFrame {
    bool operator()(const Row& row, FrameId id) const { return row.frame < id; }
    bool operator()(FrameId id, const Row& row) const { return id < row.frame; }
  };
  const auto [first, last] = std::equal_range(rows.begin(), rows.end(), frame, ByFrame{});
  return {rows.data() + (first - rows.begin()), static_cast<std::size_t>(last - first)};
}

}  // namespace

std::span<const FrameFault> Trace::faults_of(FrameId frame) const { return rows_of(faults, frame); }

std::span<const CodeSample> Trace::samples_of(FrameId frame) const {
  return rows_of(code_samples, frame);
}

std::optional<FrameId> Trace::find_frame(std::uint64_t number) const {
  if (number < frames.size() && frames[number].number == number) return FrameId(number);
  const auto found =
      std::lower_bound(frames.begin(), frames.end(), number,
                       [](const Frame& frame, std::uint64_t n) { return frame.number < n; });
  if (found == frames.end() || found->number != number) return std::nullopt;
  return FrameId(static_cast<std::size_t>(found - frames.begin()));
}

std::string Trace::fact(const std::string& key, const std::string& fallback) const {
  const auto found = meta.find(key);
  return found == meta.end() ? fallback : found->second;
}

double Trace::fact_number(const std::string& key, double fallback) const {
  const auto found = meta.find(key);
  if (found == meta.end()) return fallback;
  double value = 0;
  const char* past = found->second.data() + found->second.size();
  const auto result = std::from_chars(found->second.data(), past, value);
  return result.ec == std::errc() ? value : fallback;
}

std::string Trace::text(std::uint64_t number) const {
  const auto found = texts.find(number);
  return found == texts.end() ? "" : found->second;
}

}  // namespace hitch::model
