// The word somebody meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace hitch::app {

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
unsigned edit_distance(std::string_view a, std::string_view b);

// The candidate closest to `word`; empty when none is close enough to be meant.
std::string closest_word(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace hitch::app
