#include "gpilot/io/line_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gpilot/core/error.hpp"
#include "gpilot/io/writable.hpp"
#include "support/message_of.hpp"

namespace gpilot::io {
namespace {

using test::message_of;

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(LineFile, EveryLineIsThereAtOnceAndAnExistingFileIsRefused) {
  const std::string path = testing::TempDir() + "gpilot_line_file_test.jsonl";
  std::filesystem::remove(path);
  {
    LineFile file(path);
    file.append("{\"step\":0}");
    EXPECT_EQ(text_of(path), "{\"step\":0}\n");
    file.append("");
    file.append("c");
    EXPECT_EQ(text_of(path), "{\"step\":0}\n\nc\n");
  }
  EXPECT_EQ(message_of<InputError>([&] { LineFile again(path); }), path + ": cannot write the file: File exists");
  EXPECT_EQ(text_of(path), "{\"step\":0}\n\nc\n");
  std::filesystem::remove(path);
  EXPECT_EQ(message_of<InputError>([&] { LineFile nowhere(path + "/a"); }),
            path + "/a: cannot write the file: No such file or directory");
}

TEST(LineFile, LivesInADirectoryThatWasMadeForIt) {
  const std::string directory = testing::TempDir() + "gpilot_line_file_test";
  std::filesystem::remove_all(directory);
  make_directory(directory + "/");
  make_directory(directory);  // it is there
  LineFile(directory + "/a.jsonl").append("a");
  EXPECT_EQ(text_of(directory + "/a.jsonl"), "a\n");
  EXPECT_EQ(message_of<InputError>([&] { make_directory(directory + "/b/c"); }),
            directory + "/b/c: cannot make the directory: No such file or directory");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gpilot::io
