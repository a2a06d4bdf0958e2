#include "viewer/app/run_options.h"

#include <cstring>

#include "config/options.h"

namespace hitch::app {
namespace {

void set_variable(std::vector<std::string>& environment, const std::string& name,
                  const std::string& value) {
  const std::string start = name + '=';
  std::erase_if(environment, [&](const std::string& one) { return one.starts_with(start); });
  environment.push_back(start + value);
}

}  // namespace

std::string check_value(const std::string& flag, const std::string& value) {
  config::Options scratch;
  config::set_defaults(scratch);
  for (std::size_t i = 0; i < config::kOptionCount; ++i) {
    const config::OptionRow& row = config::kOptionRows[i];
    if (flag != row.flag) continue;
    const char* why = config::set_option(scratch, row, value.c_str());
    if (why == nullptr) return {};
    std::string sentence = flag;
    sentence.append(": '").append(value).append("' ").append(why);
    if (row.type == config::OptionType::Choice)
      sentence.append(" (").append(row.values).append(")");
    return sentence + ".";
  }
  return flag + " is not an option of a recording.";
}

std::vector<std::string> game_environment(const char* const* environment, const Settings& settings,
                                          const std::string& library) {
  std::vector<std::string> result;
  for (; environment != nullptr && *environment != nullptr; ++environment)
    result.emplace_back(*environment);
  for (const auto& [name, value] : settings) set_variable(result, name, value);
  if (library.empty()) return result;
  std::string preload = library;
  for (const std::string& one : result) {
    constexpr const char* kPreload = "LD_PRELOAD=";
    if (!one.starts_with(kPreload)) continue;
    const std::string before = one.substr(std::strlen(kPreload));
    if (!before.empty()) preload += ':' + before;
  }
  set_variable(result, "LD_PRELOAD", preload);
  return result;
}

}  // namespace hitch::app
