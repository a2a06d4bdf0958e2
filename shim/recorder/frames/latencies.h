// Latency histograms (format/histogram.h) per thread, per size class and in all. Kept for the whole
// run and written at its end; a thread's also at the thread's end.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "format/histogram.h"
#include "recorder/resolve/record_out.h"

namespace hitch::frames {

enum class CallKind : std::uint8_t { kAlloc = 0, kFree = 1, kRealloc = 2 };
constexpr std::size_t kCallKinds = 3;

class Histogram {
 public:
  void add(std::uint64_t ticks) {
    if (!counts_) counts_ = std::make_unique<Counts>();
    ++(*counts_)[format::histogram_bucket(ticks)];
  }
  void add(const Histogram& other) {
    if (!other.counts_) return;
    if (!counts_) counts_ = std::make_unique<Counts>();
    for (std::size_t i = 0; i < counts_->size(); ++i) (*counts_)[i] += (*other.counts_)[i];
  }
  bool empty() const { return !counts_; }
  format::trace::Histogram record() const {
    format::trace::Histogram histogram;
    if (!counts_) return histogram;
    for (std::size_t i = 0; i < counts_->size(); ++i) {
      if ((*counts_)[i] == 0) continue;
      histogram.buckets.push_back(i);
      histogram.buckets.push_back((*counts_)[i]);
    }
    return histogram;
  }

 private:
  using Counts = std::array<std::uint64_t, format::kHistogramBuckets>;
  std::unique_ptr<Counts> counts_;
};

using CallHistograms = std::array<Histogram, kCallKinds>;

constexpr std::size_t kSizeClasses = 49;  // upper bounds 2^0 .. 2^48
constexpr std::size_t kNoSizeClass = kSizeClasses;

constexpr std::size_t size_class(std::uint64_t size) {
  const auto bits = static_cast<std::size_t>(size <= 1 ? 0 : std::bit_width(size - 1));
  return bits < kSizeClasses ? bits : kSizeClasses - 1;
}

class Latencies {
 public:
  void add(CallHistograms& thread, CallKind kind, std::size_t of_class, std::uint64_t ticks) {
    thread[static_cast<std::size_t>(kind)].add(ticks);
    if (of_class != kNoSizeClass) classes_[of_class][static_cast<std::size_t>(kind)].add(ticks);
  }

  void write_thread(std::uint64_t id, CallHistograms& thread, resolve::RecordOut& out) {
    write(0, id, thread, out);
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) all_[kind].add(thread[kind]);
    thread = {};
  }

  void write_rest(resolve::RecordOut& out) const {
    for (std::size_t i = 0; i < kSizeClasses; ++i) {
      write(1, std::uint64_t{1} << i, classes_[i], out);
    }
    write(2, 0, all_, out);
  }

 private:
  static void write(std::uint64_t scope, std::uint64_t id, const CallHistograms& histograms,
                    resolve::RecordOut& out) {
    for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
      if (histograms[kind].empty()) continue;
      format::trace::Histogram record = histograms[kind].record();
      record.scope = scope;
      record.id = id;
      record.op = kind;
      out.put(record);
    }
  }

  std::array<CallHistograms, kSizeClasses> classes_;
  CallHistograms all_;
};

}  // namespace hitch::frames
