// Log-linear buckets in the manner of HdrHistogram (G. Tene): 32 steps an octave, so that a bucket
// is at most 1/32 of its value wide (3.1 %) and its midpoint is within 1.6 %.
#pragma once
#include <bit>
#include <cstdint>

namespace hitch::format {

constexpr unsigned kHistogramSteps = 32;
constexpr unsigned kHistogramBuckets = 32 * (64 - 5 + 1);

constexpr unsigned histogram_bucket(std::uint64_t value) {
  if (value < kHistogramSteps) return static_cast<unsigned>(value);
  const unsigned exponent = static_cast<unsigned>(std::bit_width(value)) - 6;
  return (exponent + 1) * kHistogramSteps +
         static_cast<unsigned>((value >> exponent) - kHistogramSteps);
}

// Smallest value of a bucket; the bucket ends before histogram_lower(bucket + 1).
constexpr std::uint64_t histogram_lower(unsigned bucket) {
  if (bucket < kHistogramSteps) return bucket;
  const unsigned exponent = bucket / kHistogramSteps - 1;
  return static_cast<std::uint64_t>(kHistogramSteps + bucket % kHistogramSteps) << exponent;
}

}  // namespace hitch::format
