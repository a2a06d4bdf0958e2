// Where trace records go: the writer, a test's list, or nowhere.
#pragma once
#include "format/trace_records.h"

namespace hitch::resolve {

class RecordOut {
 public:
  virtual ~RecordOut() = default;
#define HITCH_RECORD(Name, number, sentence) \
  virtual void put(const format::trace::Name& record) = 0;
#define HITCH_FIELD(type, field, sentence)
#define HITCH_END()
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
};

// Routes every put() of a class to its template `take(record)`.
template <class Derived>
class RecordOutTo : public RecordOut {
 public:
#define HITCH_RECORD(Name, number, sentence)             \
  void put(const format::trace::Name& record) override { \
    static_cast<Derived*>(this)->take(record);           \
  }
#define HITCH_FIELD(type, field, sentence)
#define HITCH_END()
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
};

class NullOut final : public RecordOutTo<NullOut> {
 public:
  template <class Record>
  void take(const Record&) {}
};

}  // namespace hitch::resolve
