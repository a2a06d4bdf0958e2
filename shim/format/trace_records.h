// The structs of records.def with their encoder and decoder. Header-only; the recorder writes with
// it, the viewer reads with it. A record on disk is: kind (varint), payload bytes (varint),
// payload. Decoding stops at the payload's end: fields missing there keep their zero, bytes beyond
// the known fields are skipped, so that older and newer minor versions read each other. Not for the
// shim: it uses the C++ library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/varint.h"

namespace hitch::format {

// Stack::flags.
constexpr std::uint64_t kStackIsCut = 2;        // deeper entries were not kept
constexpr std::uint64_t kStackIsTruncated = 4;  // no unwind information led further out

enum class FieldType : std::uint8_t { U64, TIME, TEXT, BYTES, LIST };

namespace trace {
using U64_t = std::uint64_t;
using TIME_t = std::uint64_t;
using TEXT_t = std::string;
using BYTES_t = std::string;
using LIST_t = std::vector<std::uint64_t>;

// Each struct has: kKind, kName, kSentence, and visit(self, f) calling f(FieldType, name, sentence,
// field&) in wire order.
#define HITCH_RECORD(Name, number, sentence)       \
  struct Name {                                    \
    static constexpr std::uint64_t kKind = number; \
    static constexpr const char* kName = #Name;    \
    static constexpr const char* kSentence = sentence;
#define HITCH_FIELD(type, field, sentence) type##_t field{};
#define HITCH_END() \
  }                 \
  ;
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END

#define HITCH_RECORD(Name, number, sentence)          \
  template <class Self, class F>                      \
  void visit_fields(const Name*, Self& self, F&& f) { \
    (void)self;
#define HITCH_FIELD(type, field, sentence) f(FieldType::type, #field, sentence, self.field);
#define HITCH_END() }
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
}  // namespace trace

// Calls f.template operator()<Record>() for every record type, in kind order.
template <class F>
void for_each_record_type(F&& f) {
#define HITCH_RECORD(Name, number, sentence) f.template operator()<trace::Name>();
#define HITCH_FIELD(type, field, sentence)
#define HITCH_END()
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
}

// Encodes records into one chunk's payload: the chunk's base time (varint), then records. `start`
// begins a chunk. TIME fields are stored relative to the base, not to each other, so that a reader
// may skip records.
class RecordEncoder {
 public:
  RecordEncoder() { start(0); }
  template <class Record>
  void append(const Record& record) {
    payload_.clear();
    trace::visit_fields(static_cast<const Record*>(nullptr), record,
                        [this](FieldType type, const char*, const char*, const auto& field) {
                          this->encode(type, field);
                        });
    put_varint(out_, Record::kKind);
    put_varint(out_, payload_.size());
    out_.append(payload_);
    ++records_;
  }
  const std::string& bytes() const { return out_; }
  std::uint64_t first_ticks() const { return first_; }
  std::uint64_t last_ticks() const { return last_; }
  bool empty() const { return records_ == 0; }
  void start(std::uint64_t base_ticks) {
    out_.clear();
    put_varint(out_, base_ticks);
    base_ = base_ticks;
    records_ = 0;
    first_ = ~std::uint64_t{0};
    last_ = 0;
  }

 private:
  void encode(FieldType type, const std::uint64_t& value) {
    if (type == FieldType::TIME) {
      put_varint(payload_, zigzag(static_cast<std::int64_t>(value - base_)));
      if (value < first_) first_ = value;
      if (value > last_) last_ = value;
    } else {
      put_varint(payload_, value);
    }
  }
  void encode(FieldType, const std::string& text) {
    put_varint(payload_, text.size());
    payload_.append(text);
  }
  void encode(FieldType, const std::vector<std::uint64_t>& list) {
    put_varint(payload_, list.size());
    for (const std::uint64_t value : list) put_varint(payload_, value);
  }

  std::string out_;
  std::string payload_;
  std::uint64_t base_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t first_ = ~std::uint64_t{0};
  std::uint64_t last_ = 0;
};

// Walks one chunk's payload. Bytes are untrusted: next() returns false at the end or at the first
// byte that makes no sense, and malformed() tells which.
class RecordDecoder {
 public:
  explicit RecordDecoder(std::string_view bytes) : in_(bytes) {
    if (!take_varint(in_, base_)) malformed_ = true;
  }

  // Moves to the next record; afterwards kind() is its number and read<Record>() decodes it (once).
  bool next() {
    if (!payload_.empty()) skip_payload();
    if (in_.empty() || malformed_) return false;
    std::uint64_t length = 0;
    if (!take_varint(in_, kind_) || !take_varint(in_, length) || length > in_.size()) {
      malformed_ = true;
      return false;
    }
    payload_ = in_.substr(0, length);
    in_.remove_prefix(length);
    return true;
  }
  std::uint64_t kind() const { return kind_; }
  bool malformed() const { return malformed_; }

  template <class Record>
  Record read() {
    Record record;
    trace::visit_fields(static_cast<const Record*>(nullptr), record,
                        [this](FieldType type, const char*, const char*, auto& field) {
                          if (!payload_.empty() && !malformed_) this->decode(type, field);
                        });
    payload_ = {};
    return record;
  }

  // Decodes the current record as whatever kind() says and calls f(record). False: unknown kind,
  // skipped.
  template <class F>
  bool dispatch(F&& f) {
    switch (kind_) {
#define HITCH_RECORD(Name, number, sentence) \
  case number: {                             \
    f(read<trace::Name>());                  \
    return true;                             \
  }
#define HITCH_FIELD(type, field, sentence)
#define HITCH_END()
#include "format/records.def"
#undef HITCH_RECORD
#undef HITCH_FIELD
#undef HITCH_END
      default:
        return false;
    }
  }

 private:
  void skip_payload() { payload_ = {}; }
  void decode(FieldType type, std::uint64_t& value) {
    if (!take_varint(payload_, value)) {
      malformed_ = true;
      return;
    }
    if (type == FieldType::TIME) value = base_ + static_cast<std::uint64_t>(unzigzag(value));
  }
  void decode(FieldType, std::string& text) {
    std::uint64_t length = 0;
    if (!take_varint(payload_, length) || length > payload_.size()) {
      malformed_ = true;
      return;
    }
    text.assign(payload_.substr(0, length));
    payload_.remove_prefix(length);
  }
  void decode(FieldType, std::vector<std::uint64_t>& list) {
    std::uint64_t count = 0;
    if (!take_varint(payload_, count) || count > payload_.size()) {
      malformed_ = true;
      return;
    }
    list.resize(count);
    for (std::uint64_t& value : list) {
      if (!take_varint(payload_, value)) {
        malformed_ = true;
        return;
      }
    }
  }

  std::string_view in_;
  std::string_view payload_;
  std::uint64_t kind_ = 0;
  std::uint64_t base_ = 0;
  bool malformed_ = false;
};

}  // namespace hitch::format
