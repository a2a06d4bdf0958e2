#include "viewer/app/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <ostream>

#include "config/options.h"
#include "format/file_layout.h"
#include "viewer/app/diagnosis.h"
#include "viewer/app/dump_command.h"
#include "viewer/app/help_text.h"
#include "viewer/app/recover_command.h"
#include "viewer/app/report_command.h"
#include "viewer/app/run_command.h"
#include "viewer/app/suggest.h"

namespace hitch::app {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  hitchtrace run -- ./game --its --args     record; one screen at the end\n"
    "  hitchtrace run -- %command%               the same as a Steam launch option\n"
    "  hitchtrace run --level count -- ./game    exact counts only, the cheapest\n"
    "  hitchtrace report game.hitch              which frames hitched, why, and who\n"
    "  hitchtrace report --json game.hitch       the same for scripts\n"
    "\n"
    "Without the command: LD_PRELOAD=libhitchtrace.so ./game, options as HITCH_*\n"
    "variables.\n"
    "\n"
    "Exit status: 0, 1 a recording cannot be read, 2 wrong usage; of run: the game's\n"
    "(128 + N after signal N), 127 not found, 126 not executable, 125 hitchtrace\n"
    "itself failed.";

constexpr const char* kRunExamples =
    "The game's own output is left alone; hitchtrace speaks on standard error.\n"
    "Every option can also be set by its variable: --level by HITCH_LEVEL.\n"
    "\n"
    "Examples:\n"
    "  hitchtrace run -- ./game --fullscreen\n"
    "  hitchtrace run -o before.hitch --log - -- ./game\n"
    "  hitchtrace run --target 'game-*' -- ./launcher.sh\n"
    "\n"
    "Exit status: the game's (128 + N after signal N); 127 not found, 126 not\n"
    "executable, 125 hitchtrace itself failed.";

constexpr const char* kReportExamples =
    "Examples:\n"
    "  hitchtrace report game.hitch\n"
    "  hitchtrace report --budget 16.6 --top 20 game.hitch\n"
    "  hitchtrace report --symbols ./unstripped-game game.hitch";

// What CLI11 fills while it parses.
struct Parsed {
  RunOptions run;
  ReportOptions report;
  DumpOptions dump;
  RecoverOptions recover;
  std::string colour = "auto";
  std::string group = "entry";
  std::string wrong_value;  // sentence about the first value that cannot be
};

std::string shown_values(const config::OptionRow& row) {
  return std::string(row.values).empty() ? "TEXT" : row.values;
}

void add_table_options(CLI::App& command, Parsed& parsed) {
  for (std::size_t i = 0; i < config::kOptionCount; ++i) {
    const config::OptionRow& row = config::kOptionRows[i];
    const std::string flag = row.flag;
    const std::string variable = row.env;
    auto set = [&parsed, flag, variable](const std::string& value) {
      const std::string wrong = check_value(flag, value);
      if (!wrong.empty() && parsed.wrong_value.empty()) parsed.wrong_value = wrong;
      parsed.run.settings.emplace_back(variable, value);
    };
    std::string sentence = row.sentence;
    if (row.type == config::OptionType::Switch) {
      const std::string names = flag + ",!--no-" + flag.substr(2);
      sentence += std::string(" (default: ") + (row.fallback[0] == '1' ? "yes" : "no") + ")";
      command.add_flag_function(
          names, [set](std::int64_t count) { set(count > 0 ? "1" : "0"); }, sentence);
      continue;
    }
    if (row.fallback[0] != '\0') sentence += std::string(" (default: ") + row.fallback + ")";
    const std::string names = flag == "--output" ? "-o," + flag : flag;
    command.add_option_function<std::string>(names, set, sentence)
        ->type_name(shown_values(row))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

std::string above_zero(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value > 0 ? "" : "'" + text + "' is not a number above 0";
}

std::string not_negative(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value >= 0 ? "" : "'" + text + "' is not a number from 0 on";
}

struct GroupWord {
  const char* word;
  Grouping grouping;
};
constexpr GroupWord kGroups[] = {{"entry", Grouping::kEntry},   {"function", Grouping::kFunction},
                                 {"file", Grouping::kFile},     {"module", Grouping::kModule},
                                 {"caller", Grouping::kCaller}, {"stack", Grouping::kStack}};

std::string group_word(const std::string& text) {
  for (const GroupWord& group : kGroups) {
    if (text == group.word) return "";
  }
  return "'" + text + "' is none of entry, function, file, module, caller and stack";
}

std::string colour_word(const std::string& text) {
  const bool known = text == "auto" || text == "always" || text == "never";
  return known ? "" : "'" + text + "' is neither auto, always nor never";
}

void add_run(CLI::App& app, Parsed& parsed) {
  CLI::App* run = app.add_subcommand("run", "Record a game and show one screen when it ends");
  run->footer(kRunExamples);
  add_table_options(*run, parsed);
  run->add_flag("--attach-anyway", parsed.run.attach_anyway,
                "load the library also into games it may harm: those with an anti-cheat, "
                "which may ban the account, and sanitizer builds");
}

void add_report(CLI::App& app, Parsed& parsed) {
  CLI::App* report =
      app.add_subcommand("report", "Which frames hitched, why, and which calls were in them");
  report->footer(kReportExamples);
  ReportOptions& options = parsed.report;
  report->add_option("TRACE", options.trace, "the recording")->required()->type_name("");
  report->add_flag("--json", options.json, "machine-readable, for scripts");
  report->add_flag("--summary", options.summary, "one screen, as at the end of run");
  report->add_option("--budget", options.budget_ms, "frames longer than this are the hitches")
      ->type_name("MILLISECONDS")
      ->check(above_zero);
  report
      ->add_option("--hitch-ms", options.hitch_ms,
                   "a hitch exceeds the median around it by at least this")
      ->type_name("MILLISECONDS")
      ->check(not_negative);
  report
      ->add_option("--hitch-mad", options.hitch_mad, "and by this many median absolute deviations")
      ->type_name("FACTOR")
      ->check(not_negative);
  report
      ->add_option("--top", options.top,
                   "hitches and call sites shown, half as many of lifetimes; 0: all (default: 10)")
      ->type_name("COUNT");
  report
      ->add_option("--symbols", options.symbols,
                   "file or folder with symbols, chosen by build-id; may be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  report
      ->add_option("--group", parsed.group,
                   "entry|function|file|module|caller|stack: what call sites are shown by; the "
                   "first four look through operator new, containers and the like (default: entry)")
      ->type_name("WHAT")
      ->check(group_word);
  report
      ->add_option("--skip", options.skip,
                   "functions to look through too: shell wildcards for NAME or MODULE!NAME; may be "
                   "repeated")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  report->add_flag("!--no-lifetimes", options.lifetimes,
                   "leave out what takes a walk through all kept events");
  report->add_flag("--debuginfod", options.debuginfod,
                   "ask the servers in DEBUGINFOD_URLS for debug information");
  report
      ->add_option("--color,--colour", parsed.colour,
                   "auto|always|never; auto honours NO_COLOR (default: auto)")
      ->type_name("WHEN")
      ->check(colour_word);
  report->add_option("--width", options.width, "columns (default: the terminal's, else 80)")
      ->type_name("COLUMNS");
}

void add_dump(CLI::App& app, Parsed& parsed) {
  CLI::App* dump = app.add_subcommand("dump", "Every record of a recording, as text");
  dump->add_option("TRACE", parsed.dump.trace, "the recording")->required()->type_name("");
  dump->add_flag("--json", parsed.dump.json, "one JSON object a line");
  dump->add_flag("--events", parsed.dump.events,
                 "the events of a recording made with --keep all, instead of the records");
}

void add_recover(CLI::App& app, Parsed& parsed) {
  CLI::App* recover =
      app.add_subcommand("recover", "Give a recording that was cut short its index back");
  recover->add_option("TRACE", parsed.recover.trace, "the recording")->required()->type_name("");
  recover
      ->add_option("-o,--output", parsed.recover.output,
                   "write there instead of repairing in place")
      ->type_name("FILE");
}

// The option a word names: "--level=trace" and "-otrace.hitch" name --level and -o.
const CLI::Option* option_named(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    if (option->check_name(name)) return option;
    if (name.size() > 2 && name[1] != '-' && option->check_name(name.substr(0, 2))) return option;
  }
  return nullptr;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string meant = closest_word(word, candidates);
  return meant.empty() ? "." : ": did you mean '" + meant + "'?";
}

// CLI11 says "Could not convert: --top = x".
std::string not_a_number(const std::string& text) {
  const std::size_t name = text.find("--");
  const std::size_t value = text.find(" = ");
  if (name == std::string::npos || value == std::string::npos || value < name) return text + '.';
  return text.substr(name, value - name) + ": '" + text.substr(value + 3) + "' is not a number.";
}

struct Split {
  std::vector<std::string> own;   // of the command
  std::vector<std::string> game;  // behind "--", or from the first word that is no option
  std::string unknown_option;
};

Split split_words(const CLI::App& command, const std::vector<std::string>& words, bool takes_game) {
  Split split;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--" && takes_game) {
      split.game.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      return split;
    }
    if (word == "--") {
      split.own.insert(split.own.end(), words.begin() + static_cast<std::ptrdiff_t>(i),
                       words.end());
      return split;
    }
    const bool is_option = word.size() > 1 && word[0] == '-';
    if (!is_option && takes_game) {
      split.game.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return split;
    }
    split.own.push_back(word);
    if (!is_option) continue;
    const CLI::Option* option = option_named(command, word);
    if (option == nullptr) {
      split.unknown_option = word.substr(0, word.find('='));
      return split;
    }
    const bool value_inside =
        word.find('=') != std::string::npos || (word[1] != '-' && word.size() > 2);
    if (option->get_items_expected_max() > 0 && !value_inside && i + 1 < words.size())
      split.own.push_back(words[++i]);
  }
  return split;
}

class CommandLine {
 public:
  CommandLine(std::ostream& out, std::ostream& errors) : out_(out), errors_(errors) {
    app_.name("hitchtrace");
    app_.footer(kExamples);
    app_.require_subcommand(1);
    app_.set_help_flag("-h,--help", "show this help");
    app_.formatter(std::make_shared<HelpText>());
    add_run(app_, parsed_);
    add_report(app_, parsed_);
    add_dump(app_, parsed_);
    add_recover(app_, parsed_);
    app_.add_subcommand("version", "Version of this command and of the files it reads");
    for (CLI::App* one : commands()) one->group("Commands");
    app_.set_version_flag("--version", std::string(), "the same as the command version");
  }

  int run(const std::vector<std::string>& words) {
    if (words.empty()) {
      errors_ << app_.help();
      return kExitUsage;
    }
    const std::string& name = words.front();
    if (name == "--version" || name == "-V") return version();
    if (name == "-h" || name == "--help" || name == "help") return help(words);
    CLI::App* command = find_command(name);
    if (command == nullptr) {
      std::vector<std::string> names;
      for (const CLI::App* one : commands()) names.push_back(one->get_name());
      return fail((name[0] == '-' ? "unknown option '" : "unknown command '") + name + "'" +
                      did_you_mean(name, name[0] == '-' ? option_names(app_) : names),
                  kExitUsage);
    }
    return run_subcommand(*command, {words.begin() + 1, words.end()});
  }

 private:
  std::vector<CLI::App*> commands() {
    return app_.get_subcommands([](CLI::App*) { return true; });
  }

  CLI::App* find_command(const std::string& name) {
    for (CLI::App* one : commands())
      if (one->get_name() == name) return one;
    return nullptr;
  }

  int fail(const std::string& sentence, int status) {
    errors_ << "hitchtrace: " << sentence << '\n';
    return status;
  }

  int version() {
    out_ << "hitchtrace " HITCH_VERSION " (trace format " << format::kFileMajor << '.'
         << format::kFileMinor << ")\n";
    return 0;
  }

  int help(const std::vector<std::string>& words) {
    const CLI::App* command = words.size() > 1 ? find_command(words[1]) : nullptr;
    out_ << (command == nullptr ? app_.help() : command->help());
    return 0;
  }

  int run_subcommand(CLI::App& command, const std::vector<std::string>& words) {
    const std::string& name = command.get_name();
    const bool is_run = name == "run";
    const int usage = is_run ? kExitOwnFailure : kExitUsage;
    Split split = split_words(command, words, is_run);
    if (!split.unknown_option.empty())
      return fail("unknown option '" + split.unknown_option + "' of " + name +
                      did_you_mean(split.unknown_option, option_names(command)),
                  usage);
    try {
      std::vector<std::string> reversed(split.own.rbegin(), split.own.rend());
      reversed.push_back(name);
      app_.parse(std::move(reversed));
    } catch (const CLI::CallForHelp&) {
      out_ << command.help();
      return 0;
    } catch (const CLI::ConversionError& error) {
      return fail(not_a_number(error.what()), usage);
    } catch (const CLI::ParseError& error) {
      const std::string text = error.what();
      return fail((text.starts_with("--") ? text : name + ": " + text) + ".", usage);
    }
    if (!parsed_.wrong_value.empty()) return fail(parsed_.wrong_value, usage);
    if (name == "version") return version();
    if (name == "dump") return dump_command(parsed_.dump, out_, errors_);
    if (name == "recover") return recover_command(parsed_.recover, out_, errors_);
    if (name == "report") return report();
    parsed_.run.command = std::move(split.game);
    if (parsed_.run.command.empty() || parsed_.run.command.front().empty())
      return fail("run: which game? Write: hitchtrace run -- GAME ARGS.", usage);
    return run_command(parsed_.run, errors_);
  }

  int report() {
    if (parsed_.colour == "always") parsed_.report.colour = Colour::kAlways;
    if (parsed_.colour == "never") parsed_.report.colour = Colour::kNever;
    for (const GroupWord& group : kGroups) {
      if (parsed_.group == group.word) parsed_.report.group = group.grouping;
    }
    return report_command(parsed_.report, out_, errors_);
  }

  std::ostream& out_;
  std::ostream& errors_;
  Parsed parsed_;
  CLI::App app_{"Finds out who eats the frame: which frames of a game hitched, and why."};
};

}  // namespace

int run_command_line(const std::vector<std::string>& words, std::ostream& out,
                     std::ostream& errors) {
  return CommandLine(out, errors).run(words);
}

}  // namespace hitch::app
