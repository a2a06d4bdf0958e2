#include "viewer/app/help_text.h"

#include <sstream>

namespace hitch::app {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kNameColumns = 28;

// "  NAME        description, wrapped"; a long name stands on a line of its own.
std::string row(const std::string& name, const std::string& description) {
  std::string text = "  " + name;
  if (text.size() + 2 > kNameColumns) text += '\n' + std::string(kNameColumns, ' ');
  std::size_t column = text.size() - (text.rfind('\n') + 1);
  text.append(kNameColumns - column, ' ');
  column = kNameColumns;
  std::istringstream words(description);
  for (std::string word; words >> word;) {
    if (column > kNameColumns && column + 1 + word.size() > kColumns) {
      text += '\n' + std::string(kNameColumns, ' ');
      column = kNameColumns;
    }
    if (column > kNameColumns) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
  }
  return text + '\n';
}

}  // namespace

HelpText::HelpText() { label("Positionals", "Arguments"); }

std::string HelpText::make_usage(const CLI::App* command, std::string) const {
  const std::string& name = command->get_name();
  if (name == "hitchtrace") return "\nUsage: hitchtrace COMMAND [OPTIONS]\n";
  if (name == "run") return "\nUsage: hitchtrace run [OPTIONS] -- GAME [ARGS...]\n";
  if (name == "version") return "\nUsage: hitchtrace version\n";
  return "\nUsage: hitchtrace " + name + " [OPTIONS] TRACE\n";
}

std::string HelpText::make_description(const CLI::App* command) const {
  const std::string text = command->get_description();
  return text + (text.ends_with('.') ? "\n" : ".\n");
}

std::string HelpText::make_option(const CLI::Option* option, bool is_positional) const {
  if (is_positional) return row(option->get_name(true), option->get_description());
  std::string name;
  for (const std::string& one : option->get_snames()) name += (name.empty() ? "-" : ", -") + one;
  for (const std::string& one : option->get_lnames()) {
    const bool is_negation = one.starts_with("no-") && !name.empty();
    name += is_negation ? " | --" : name.empty() ? "--" : ", --";
    name += one;
  }
  // CLI11 appends the names of the checks behind a colon.
  const std::string type = option->get_type_name();
  if (option->get_items_expected_max() > 0) name += ' ' + type.substr(0, type.find(':'));
  return row(name, option->get_description());
}

std::string HelpText::make_subcommand(const CLI::App* command) const {
  return row(command->get_name(), command->get_description());
}

}  // namespace hitch::app
