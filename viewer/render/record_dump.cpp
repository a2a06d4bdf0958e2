#include "viewer/render/record_dump.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <type_traits>

#include "viewer/load/event_stream.h"

namespace hitch::render {
namespace {

using format::FieldType;
using Json = nlohmann::ordered_json;

std::string hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

// Texts come from the game and may hold anything; what is not UTF-8 becomes U+FFFD.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string plain(FieldType, std::uint64_t value) { return std::to_string(value); }
std::string plain(FieldType type, const std::string& text) {
  return type == FieldType::BYTES ? hex(text) : quoted(text);
}
std::string plain(FieldType, const std::vector<std::uint64_t>& list) {
  std::string text = "[";
  for (const std::uint64_t value : list) {
    if (text.size() > 1) text += ',';
    text += std::to_string(value);
  }
  return text + ']';
}

Json json_value(FieldType, std::uint64_t value) { return value; }
Json json_value(FieldType type, const std::string& text) {
  return type == FieldType::BYTES ? hex(text) : text;
}
Json json_value(FieldType, const std::vector<std::uint64_t>& list) { return list; }

std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

template <class Record>
std::string text_line(const Record& record) {
  std::string line = Record::kName;
  format::trace::visit_fields(
      static_cast<const Record*>(nullptr), record,
      [&](FieldType type, const char* name, const char*, const auto& field) {
        line += ' ';
        line += name;
        line += '=';
        line += plain(type, field);
      });
  return line + '\n';
}

template <class Record>
std::string json_line(const Record& record) {
  Json json;
  json["record"] = Record::kName;
  format::trace::visit_fields(static_cast<const Record*>(nullptr), record,
                              [&](FieldType type, const char* name, const char*,
                                  const auto& field) { json[name] = json_value(type, field); });
  return to_line(json);
}

}  // namespace

void write_dump(load::TraceReader& reader, DumpFormat format, std::ostream& out) {
  const format::FileHeader& header = reader.header();
  const bool text = format == DumpFormat::kText;
  if (text) {
    out << "File version=" << header.major << '.' << header.minor << " tsc_hz=" << header.tsc_hz
        << " created_realtime_ns=" << header.created_realtime_ns << '\n';
  } else {
    out << to_line(Json{{"record", "File"},
                        {"major", header.major},
                        {"minor", header.minor},
                        {"tsc_hz", header.tsc_hz},
                        {"created_realtime_ns", header.created_realtime_ns}});
  }
  reader.for_each_record(
      [&](const auto& record) {
        if (out) out << (text ? text_line(record) : json_line(record));
      },
      [&](const format::ChunkFrame&) { return static_cast<bool>(out); },
      [&](std::uint64_t kind) {
        if (text) {
          out << "Unknown kind=" << kind << '\n';
        } else {
          out << to_line(Json{{"record", "Unknown"}, {"kind", kind}});
        }
      });
  out.flush();
}

std::vector<std::string> write_events(load::TraceReader& reader, DumpFormat format,
                                      std::ostream& out) {
  static constexpr const char* kKinds[] = {"alloc", "free", "realloc"};
  static constexpr const char* kOutcomes[] = {"moved", "in_place", "failed", "freed"};
  std::string lines;
  const load::EventStreamResult result =
      load::for_each_event_block(reader, [&](const load::EventBlock& block) {
        if (!out) return;
        lines.clear();
        for (const format::KeptEvent& event : block.events) {
          Json json;
          json["record"] = "Event";
          json["kind"] = kKinds[static_cast<unsigned>(event.kind)];
          json["time"] = event.key;
          json["ticks"] = event.ticks;
          json["thread"] = event.thread;
          json["site"] = event.site;
          json["op"] = static_cast<unsigned>(event.op);
          json["address"] = event.address;
          if (event.kind != format::EventKind::kFree) json["size"] = event.size;
          if (event.kind == format::EventKind::kRealloc) {
            json["old_address"] = event.old_address;
            json["outcome"] = kOutcomes[static_cast<unsigned>(event.outcome)];
          }
          if (format == DumpFormat::kJsonLines) {
            lines += to_line(json);
            continue;
          }
          lines += "Event";
          for (const auto& [name, value] : json.items()) {
            if (name == "record") continue;
            lines +=
                ' ' + name + '=' + (value.is_string() ? value.get<std::string>() : value.dump());
          }
          lines += '\n';
        }
        out << lines;
      });
  if (format == DumpFormat::kJsonLines) {
    out << to_line(Json{{"record", "Events"},
                        {"events", result.events},
                        {"skipped", result.skipped},
                        {"given_up", result.given_up},
                        {"missing", result.missing}});
  } else {
    out << "Events events=" << result.events << " skipped=" << result.skipped
        << " given_up=" << result.given_up << " missing=" << result.missing << '\n';
  }
  out.flush();
  return result.warnings;
}

}  // namespace hitch::render
