#include "viewer/model/histogram.h"

#include <algorithm>
#include <cmath>

#include "format/histogram.h"

namespace hitch::model {

void Histogram::add(const std::vector<std::uint64_t>& pairs) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] >= format::kHistogramBuckets) continue;
    buckets_[static_cast<unsigned>(pairs[i])] += pairs[i + 1];
    calls_ += pairs[i + 1];
  }
}

void Histogram::add(const Histogram& other) {
  for (const auto& [bucket, calls] : other.buckets_) buckets_[bucket] += calls;
  calls_ += other.calls_;
}

double Histogram::quantile(double quantile) const {
  const double rank = std::ceil(std::clamp(quantile, 0.0, 1.0) * static_cast<double>(calls_));
  double seen = 0;
  for (const auto& [bucket, calls] : buckets_) {
    if (calls == 0) continue;
    seen += static_cast<double>(calls);
    if (seen < rank) continue;
    const auto lower = static_cast<double>(format::histogram_lower(bucket));
    if (bucket + 1 >= format::kHistogramBuckets || bucket < format::kHistogramSteps) return lower;
    return (lower + static_cast<double>(format::histogram_lower(bucket + 1))) / 2;
  }
  return 0;
}

}  // namespace hitch::model
