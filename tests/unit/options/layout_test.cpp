#include "gpilot/options/layout.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "gpilot/core/error.hpp"
#include "gpilot/io/toml_reader.hpp"
#include "gpilot/options/list_archive.hpp"
#include "gpilot/study/config_archives.hpp"
#include "gpilot/study/config_tables.hpp"
#include "support/message_of.hpp"
#include "support/small_config.hpp"

namespace gpilot::options {
namespace {

using ::gpilot::test::expect_contains;
using ::gpilot::test::message_of;

/// Everything that is described, in sections of their own.
struct Everything {
  explore::ExploreOptions explore{};
  ssm::ModelSpec model{};
  inference::FitOptions fit{};
  inference::BatchOptions batches{};
  identify::IdentifyOptions identify{};
};

template <class Visit, class Options>
void describe_everything(Visit&& visit, Options& o) {
  visit("exploring", [&](auto& a) { describe_exploring(a, o.explore); });
  visit("planning", [&](auto& a) { describe_planning(a, o.explore.planning); });
  visit("region", [&](auto& a) { describe_region(a, o.explore.region); });
  visit("dynamics", [&](auto& a) { describe_dynamics(a, o.model); });
  visit("training", [&](auto& a) { describe_training(a, o.fit); });
  visit("batches", [&](auto& a) { describe_batches(a, o.batches); });
  visit("identifying", [&](auto& a) { describe_identifying(a, o.identify); });
}

std::vector<ListedField> listed(const Everything& options) {
  std::vector<ListedField> all;
  describe_everything(
      [&](const char*, auto describe) {
        ListArchive list;
        describe(list);
        all.insert(all.end(), list.fields().begin(), list.fields().end());
      },
      options);
  return all;
}

/// Something else than the default that is allowed, as TOML.
std::string other_value(const ListedField& listed) {
  if (!listed.known.empty()) {
    return fmt::format("\"{}\"", listed.known.front() == listed.value ? listed.known.back() : listed.known.front());
  }
  if (listed.is_text) {
    return "\"y=-0.5:0.5\"";
  }
  if (listed.type == "flag") {
    return listed.value == "true" ? "false" : "true";
  }
  return listed.type.find('<') != std::string::npos ? "0.25" : "12";  // inside all bounds, and no default
}

TEST(Options, EveryFieldArrivesFromAFile) {
  Everything options;
  const std::vector<ListedField> before = listed(options);
  EXPECT_GT(before.size(), 40u);
  std::vector<std::string> expected;
  describe_everything(
      [&](const char* section, auto describe) {
        ListArchive list;
        describe(list);
        std::string toml;
        for (const ListedField& field : list.fields()) {
          const std::string value = other_value(field);
          toml += fmt::format("{} = {}\n", field.field.key, value);
          expected.push_back(value);
        }
        const io::TomlValue table = io::parse_toml(toml, "f.toml");
        study::TomlArchive archive(&table, {section, -1, "", ""});
        describe(archive);
      },
      options);
  const std::vector<ListedField> after = listed(options);
  ASSERT_EQ(after.size(), expected.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i].toml(), expected[i]) << after[i].field.key;
    EXPECT_NE(after[i].value, before[i].value) << after[i].field.key;
  }
}

TEST(Options, DefaultsKeepTheirBounds) {
  const Everything options;
  describe_everything(
      [](const char* section, auto describe) {
        study::CheckArchive check({section, -1, "", ""});
        EXPECT_NO_THROW(describe(check)) << section;
      },
      options);
}

TEST(Options, ValuesOutOfBoundsAreRefused) {
  Everything options;
  options.identify.order = 17;
  const std::string message = message_of<InputError>([&] {
    study::CheckArchive check({"identifying", -1, "", ""});
    const identify::IdentifyOptions& identify = options.identify;
    describe_identifying(check, identify);
  });
  EXPECT_EQ(message, "identifying.order: expected a whole number from 1 to 16, not 17");
  EXPECT_EQ(complaint(0.0, NumberRule::kProbability),
            "expected a probability between 0 and 1, neither of the two, not 0");
  EXPECT_EQ(complaint(0.5, NumberRule::kProbability), "");
  EXPECT_NE(complaint(1.0, NumberRule::kProbability), "");
}

TEST(Options, AreExplained) {
  for (const ListedField& field : listed({})) {
    EXPECT_NE(std::string(field.field.meaning), "") << field.field.key;
    EXPECT_FALSE(field.type.empty()) << field.field.key;
    if (field.field.key != std::string_view("strategy")) {  // too many: --help and the documentation list them
      for (const std::string& word : field.known) {
        expect_contains(field.field.meaning, word);
      }
    }
  }
}

TEST(Options, NamesOnTheCommandLine) {
  EXPECT_EQ(option_name({.key = "retrain_every"}), "--retrain-every");
  EXPECT_EQ(option_name({.key = "hold", .option = "plan-hold"}), "--plan-hold");
  EXPECT_EQ(option_name({.key = "linear", .option = kNoOption}), "");
  explore::ExploreOptions explore;
  ListArchive run;  // what `gpilot run` has
  describe_exploring(run, explore);
  describe_planning(run, explore.planning);
  describe_region(run, explore.region);
  std::set<std::string> names;
  for (const ListedField& field : run.fields()) {
    EXPECT_TRUE(names.insert(option_name(field.field)).second) << field.field.key;
  }
}

TEST(Options, TablesOfADocument) {
  std::string page = "# Keys\n";
  for (const char* section : {"study", "input", "output", "state", "model", "planning", "training", "rig"}) {
    page += fmt::format("<!-- keys: {} -->\n| old |\n\nText of {}.\n", section, section);
  }
  const std::string made = study::with_key_tables(page);
  EXPECT_EQ(made.find("| old |"), std::string::npos);
  expect_contains(made, "Text of rig.\n");
  expect_contains(made,
                  "| `commit` | `--commit` | 1 to 200 | 1 | controls of a plan that are applied before the next is "
                  "made |\n");
  expect_contains(made, "| `slew` | number > 0 | no limit | largest change from one step to the next |\n");
  EXPECT_EQ(study::with_key_tables(made), made);
  expect_contains(message_of<InputError>([] { study::with_key_tables("<!-- keys: nothing -->\n"); }),
                  "no section [nothing]");
  expect_contains(message_of<InputError>([] { study::with_key_tables(""); }), "the page has no line '<!-- keys: ");
}

}  // namespace
}  // namespace gpilot::options
