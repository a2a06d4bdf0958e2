// The tables of FORMAT.md are those of records.def. HITCH_UPDATE=1 in the environment rewrites
// them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "format/trace_records.h"

namespace hitch::format {
namespace {

constexpr const char* kBegin = "<!-- tables: generated from records.def -->\n";
constexpr const char* kEnd = "<!-- end of tables -->\n";

const char* name_of(FieldType type) {
  switch (type) {
    case FieldType::U64:
      return "U64";
    case FieldType::TIME:
      return "TIME";
    case FieldType::TEXT:
      return "TEXT";
    case FieldType::BYTES:
      return "BYTES";
    default:
      return "LIST";
  }
}

std::string tables() {
  std::ostringstream out;
  for_each_record_type([&out]<class Record>() {
    out << "\n### " << Record::kKind << " " << Record::kName << "\n\n"
        << Record::kSentence << ".\n\n| field | type | meaning |\n|---|---|---|\n";
    Record record;
    trace::visit_fields(static_cast<const Record*>(nullptr), record,
                        [&out](FieldType type, const char* name, const char* sentence, auto&) {
                          out << "| `" << name << "` | " << name_of(type) << " | " << sentence
                              << " |\n";
                        });
  });
  out << "\n";
  return out.str();
}

TEST(FormatPage, ItsTablesAreThoseOfTheRecords) {
  std::ifstream in(HITCH_FORMAT_PAGE);
  std::stringstream buffer;
  buffer << in.rdbuf();
  const std::string page = buffer.str();
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::size_t start = begin + std::string(kBegin).size();
  if (std::getenv("HITCH_UPDATE") != nullptr) {
    std::ofstream(HITCH_FORMAT_PAGE) << page.substr(0, start) << tables() << page.substr(end);
    return;
  }
  EXPECT_EQ(page.substr(start, end - start), tables())
      << "run this test with HITCH_UPDATE=1 to rewrite the page";
}

}  // namespace
}  // namespace hitch::format
