// A RecordOut that keeps everything, for tests of the recorder's stages.
#pragma once
#include <cstdint>
#include <tuple>
#include <vector>

#include "recorder/resolve/record_out.h"

namespace hitch::support {

class RecordList final : public resolve::RecordOutTo<RecordList> {
 public:
  template <class Record>
  void take(const Record& record) {
    std::get<std::vector<Record>>(lists_).push_back(record);
  }
  template <class Record>
  const std::vector<Record>& all() const {
    return std::get<std::vector<Record>>(lists_);
  }
  // Sum of one field over all records of a kind.
  template <class Record>
  std::uint64_t sum(std::uint64_t Record::*field) const {
    std::uint64_t total = 0;
    for (const Record& record : all<Record>()) total += record.*field;
    return total;
  }
  // The same over those for which `keep(record)`.
  template <class Record, class Keep>
  std::uint64_t sum_if(std::uint64_t Record::*field, Keep keep) const {
    std::uint64_t total = 0;
    for (const Record& record : all<Record>()) total += keep(record) ? record.*field : 0;
    return total;
  }

 private:
  struct Nothing {};
#define HITCH_RECORD(Name, number, sentence) std::vector<format::trace::Name>,
#define HITCH_FIELD(type, field, sentence)
#define HITCH_END()
  std::tuple<
#include "format/records.def"
      std::vector<Nothing>>
      lists_;
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
};

}  // namespace hitch::support
