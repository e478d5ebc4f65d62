#include "stage/blocks/description.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lull::stage::blocks {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* small = R"(
[parameters]
nx = 10
[layouts.field]
type = "float32"
extents = ["ny", "nx"]
cut = [2, "columns"]
[variables.b]
layout = "field"
unit = "K"
[variables.a]
layout = "field"
compression = "zstd:7"
[output]
folder = "/tmp/out"
name = "air"
files = "server"
compression = "gzip"
)";

std::string what_of(const std::string& text) {
  try {
    (void)read_description(text, 0, 4);
  } catch (const usage_error& why) {
    return why.what();
  }
  return "";
}

TEST(description, says_what_there_is) {
  const description found = read_description(small, 1, 4);
  ASSERT_EQ(found.variables.size(), 2U);
  EXPECT_EQ(found.variables[0].name, "b");  // in the order of the text
  EXPECT_EQ(found.variables[0].packed.by, compression::method::gzip);
  EXPECT_EQ(found.variables[1].packed.level, 7);
  EXPECT_EQ(found.folder, "/tmp/out");
  EXPECT_TRUE(found.file_of_server);
  EXPECT_EQ(found.parameters.at("processes"), 4);
}

TEST(description, cuts_a_layout_into_parts_that_cover_it_once) {
  for (const int rows : {2, 7})
    for (const int columns : {1, 3}) {
      std::vector<int> covered(static_cast<std::size_t>(rows) * 10);
      for (int process = 0; process < 8; ++process) {
        description of = read_description(small, process, 8);
        of.parameters["ny"] = rows;
        of.parameters["columns"] = columns;
        const block mine = blocks_of(of).front();
        EXPECT_EQ(mine.bytes() == 0, process >= 2 * columns);
        for (std::int64_t i = 0; i < mine.count[0]; ++i)
          for (std::int64_t j = 0; j < mine.count[1]; ++j)
            ++covered[static_cast<std::size_t>((mine.offset[0] + i) * 10 + mine.offset[1] + j)];
      }
      EXPECT_THAT(covered, testing::Each(1));
    }
}

TEST(description, gives_the_last_dimension_s_parts_to_processes_first) {
  description of = read_description(small, 1, 6);
  of.parameters["ny"] = 4;
  of.parameters["columns"] = 3;
  const block mine = blocks_of(of).front();
  EXPECT_THAT(mine.offset, ElementsAre(0, 3));
  EXPECT_THAT(mine.count, ElementsAre(2, 3));
}

TEST(description, needs_a_value_for_each_parameter) {
  description of = read_description(small, 0, 1);
  of.parameters["ny"] = 4;
  EXPECT_THROW((void)blocks_of(of), usage_error);
  of.parameters["columns"] = 0;
  EXPECT_THROW((void)blocks_of(of), usage_error);
  of.parameters["columns"] = 1;
  EXPECT_EQ(blocks_of(of).size(), 2U);
}

TEST(description, refuses_what_it_does_not_know_and_names_the_place) {
  const std::string text = small;
  const auto with = [&](const std::string& from, const std::string& to) {
    return std::string(text).replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(what_of(small), "");
  EXPECT_THAT(what_of(with("unit", "units")), HasSubstr("[variables.b]: there is no key 'units'"));
  EXPECT_THAT(what_of(with("float32", "real")), HasSubstr("[layouts.field]: there is no type 'real'"));
  EXPECT_THAT(what_of(with("[2, \"columns\"]", "[2]")), HasSubstr("differ in the number of dimensions"));
  EXPECT_THAT(what_of(with("[2, \"columns\"]", "[2, 1.5]")), HasSubstr("neither a whole number nor a parameter"));
  EXPECT_THAT(what_of(with("layout = \"field\"", "layout = \"line\"")), HasSubstr("there is no layout 'line'"));
  EXPECT_THAT(what_of(with("zstd:7", "zstd:20")), HasSubstr("not a valid level of zstd; write zstd:1 to zstd:19"));
  EXPECT_THAT(what_of(with("\"gzip\"", "\"lzma\"")), HasSubstr("[output]: there is no compression 'lzma'"));
  EXPECT_THAT(what_of(with("\"server\"", "\"all\"")), HasSubstr("write process or server"));
  EXPECT_THAT(what_of(with("name = \"air\"", "name = \"a/b\"")), HasSubstr("name is not a valid file name"));
  EXPECT_THAT(what_of(with("nx = 10", "nx = 10.5")), HasSubstr("nx is not a whole number"));
  EXPECT_THAT(what_of(with("nx = 10", "process = 10")), HasSubstr("process is set by Lull"));
  EXPECT_THAT(what_of(with("nx = 10", "nx = ")), HasSubstr("line 3"));
  EXPECT_THAT(what_of(text + "[mesh]\n"), HasSubstr("there is no key 'mesh'"));
  EXPECT_THAT(what_of(text + "[[plugins]]\npython = \"x\"\n"), HasSubstr("write file.py:function"));
  EXPECT_THAT(what_of(text + "[[plugins]]\nlibrary = \"x\"\n"), HasSubstr("it does not name a function"));
  EXPECT_THAT(what_of("/missing.toml"), HasSubstr("/missing.toml"));
}

}  // namespace
}  // namespace lull::stage::blocks
