// Interned texts: each is written once, before its first use.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "recorder/resolve/record_out.h"

namespace hitch::resolve {

class Texts {
 public:
  explicit Texts(RecordOut& out) : out_(out), texts_(1) {}

  std::uint64_t id(const std::string& text) {
    const auto [place, fresh] = ids_.try_emplace(text, texts_.size());
    if (fresh) {
      texts_.push_back(text);
      out_.put(format::trace::Text{place->second, text});
    }
    return place->second;
  }
  // Empty for 0.
  const std::string& text(std::uint64_t id) const { return texts_[id]; }

 private:
  RecordOut& out_;
  std::unordered_map<std::string, std::uint64_t> ids_;
  std::vector<std::string> texts_;
};

// The text of a TextRecord's words; bytes that are not UTF-8 become '?'.
std::string text_of_record(const std::uint64_t* words, unsigned word_count);
std::string clean_utf8(std::string text);

}  // namespace hitch::resolve
