// Blocks of variables: their memory, the files made from them, and what is rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <numeric>

#include "base/error.hpp"
#include "stage/blocks/hdf5/hdf5_making.hpp"
#include "stage/blocks/hdf5/hdf5_objects.hpp"
#include "stage/blocks/hdf5/iteration_files.hpp"
#include "stage/blocks/output.hpp"
#include "stage/files.hpp"
#include "surroundings.hpp"

namespace lull::stage::blocks {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

head one_block() {
  head made;
  made.iteration = 3;
  made.process = 1;
  made.processes = 2;
  block values;
  values.variable = "values";
  values.unit = "m";
  values.all = {4, 5};
  values.offset = {2, 0};
  values.count = {2, 5};
  made.blocks.push_back(values);
  return made;
}

// A block file as it is handed over, or with an inconsistent head.
descriptor in_memory(
    head what, const std::function<void(head&)>& change = [](head&) {}) {
  descriptor file(memfd_create("blocks", MFD_CLOEXEC));
  const std::size_t begin = begin_of_blocks(what), bytes = begin + what.blocks[0].bytes();
  what.blocks[0].position = begin;
  change(what);
  std::vector<std::byte> memory(bytes);
  write_head(memory.data(), what, bytes);
  std::vector<double> values(10);
  std::iota(values.begin(), values.end(), 0.5);
  std::memcpy(memory.data() + begin, values.data(), 80);
  EXPECT_EQ(write(file.get(), memory.data(), bytes), static_cast<ssize_t>(bytes));
  return file;
}

TEST(block_file, is_read_as_it_was_written) {
  const descriptor file = in_memory(one_block());
  const block_file found(file.get());
  ASSERT_EQ(found.about().blocks.size(), 1U);
  const block& values = found.about().blocks[0];
  EXPECT_EQ(values.variable + " " + values.unit, "values m");
  EXPECT_THAT(values.offset, ElementsAre(2, 0));
  double last = 0;
  std::memcpy(&last, found.data(values) + 72, sizeof last);
  EXPECT_EQ(last, 9.5);
}

TEST(block_file, that_is_damaged_is_refused) {
  const auto refused = [](const std::function<void(head&)>& change) {
    const descriptor file = in_memory(one_block(), change);
    EXPECT_THROW(block_file(file.get()), error);
  };
  refused([](head& of) { of.blocks[0].position += 1; });
  refused([](head& of) { of.blocks[0].position = ~std::uint64_t{0}; });
  refused([](head& of) { of.blocks[0].count[0] = 3; });
  refused([](head& of) { of.blocks[0].count[0] = -1; });
  refused([](head& of) { of.blocks[0].offset = {1}; });
  refused([](head& of) { of.blocks[0].type = static_cast<element>(77); });
  refused([](head& of) { of.process = 2; });
  const descriptor cut = in_memory(one_block());
  for (const off_t bytes : {4000, 100, 30, 10, 0}) {
    EXPECT_EQ(ftruncate(cut.get(), bytes), 0);
    EXPECT_THROW(block_file(cut.get()), error);
  }
}

class blocks_output : public testing::Test {
 protected:
  [[nodiscard]] fs::path at(const std::string& name) const { return folder_.path() / name; }
  [[nodiscard]] std::string described(const std::string& more = "", int rows = 4) const {
    return "[layouts.field]\ntype = \"float64\"\nextents = [" + std::to_string(rows) +
           ", 5]\ncut = [\"processes\", 1]\n[variables.values]\nlayout = \"field\"\n[output]\nfolder = \"" +
           folder_.path().string() + "\"\n" + more;
  }
  static std::vector<double> read(const fs::path& file, const char* name, std::size_t count) {
    const hdf5_object opened(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    const hdf5_object values(H5Dopen2(opened, name, H5P_DEFAULT), H5Dclose);
    std::vector<double> found(count);
    check(H5Dread(values, type_of(element::float64), H5S_ALL, H5S_ALL, H5P_DEFAULT, found.data()));
    return found;
  }

 private:
  temporary_folder folder_;
};

std::vector<double> counted_up(std::size_t count, double from = 0) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST_F(blocks_output, of_all_processes_is_one_file) {
  for (int process = 0; process < 2; ++process) {
    output mine(described(), process, 2);
    for (int iteration = 0; iteration < 3; ++iteration) {
      const auto values = counted_up(10, 100 * iteration + 10 * process);
      mine.write("values", values.data());
      EXPECT_TRUE(mine.end_iteration(iteration));
      EXPECT_EQ(fs::exists(at("output.000000.h5")), process == 1);
    }
  }
  for (int iteration = 0; iteration < 3; ++iteration)
    EXPECT_EQ(read(at("output.00000" + std::to_string(iteration) + ".h5"), "values", 20),
              counted_up(20, 100 * iteration));
}

TEST_F(blocks_output, is_packed_in_chunks_as_it_says) {
  for (const char* const method : {"gzip:1", "zstd", "zstd:19"}) {
    const std::size_t rows = 100000;
    output mine(described("compression = \"" + std::string(method) + "\"\n", rows), 0, 1);
    const auto values = counted_up(5 * rows);
    mine.write("values", values.data());
    EXPECT_TRUE(mine.end_iteration(0));
    EXPECT_LT(fs::file_size(at("output.000000") / "p0000.h5"), 8 * 5 * rows / 2);
    EXPECT_EQ(read(at("output.000000.h5"), "values", 5 * rows), values);
  }
}

TEST_F(blocks_output, writes_equal_files_of_equal_data) {
  std::array<std::string, 2> texts;
  for (std::string& text : texts) {
    output mine(described(), 0, 1);
    const auto values = counted_up(20);
    mine.write("values", values.data());
    EXPECT_TRUE(mine.end_iteration(0));
    text = text_of(at("output.000000") / "p0000.h5");
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(blocks_output, of_an_iteration_without_variables_is_none) {
  output mine(described(), 0, 1);
  EXPECT_TRUE(mine.end_iteration(0));
  EXPECT_EQ(entries(at("")), 0);
}

TEST_F(blocks_output, written_twice_in_an_iteration_is_what_came_last) {
  output mine(described(), 0, 1);
  const auto first = counted_up(20), last = counted_up(20, 50);
  mine.write("values", first.data());
  mine.write("values", last.data());
  EXPECT_TRUE(mine.end_iteration(0));
  EXPECT_EQ(read(at("output.000000.h5"), "values", 20), last);
}

TEST_F(blocks_output, grows_with_a_block_that_is_placed_anew) {
  output mine(described(), 0, 2);
  const std::array<std::int64_t, 2> offset{0, 0}, small{1, 5}, large{4, 5};
  const auto values = counted_up(20);
  mine.place("values", offset.data(), small.data());
  mine.write("values", values.data());
  EXPECT_THROW(mine.place("values", offset.data(), large.data()), usage_error);
  EXPECT_TRUE(mine.end_iteration(0));
  mine.place("values", offset.data(), large.data());
  mine.write("values", values.data());
  EXPECT_TRUE(mine.end_iteration(1));
  EXPECT_EQ(read(at("output.000001") / "p0000.h5", "values", 20), values);
}

TEST_F(blocks_output, takes_parameters_between_iterations) {
  output mine(described(), 0, 1);
  const auto values = counted_up(20);
  mine.write("values", values.data());
  EXPECT_THROW(mine.set("nx", 3), usage_error);
  EXPECT_TRUE(mine.end_iteration(0));
  mine.set("nx", 3);
}

TEST_F(blocks_output, must_be_placed_anew_when_its_extents_shrink) {
  std::string text = described();
  text.replace(text.find("[4, 5]"), 6, "[\"n\", 5]").replace(text.find("cut ="), 22, "");
  output mine(text, 0, 1);
  const std::array<std::int64_t, 2> offset{2, 0}, count{2, 5};
  const auto values = counted_up(20);
  mine.set("n", 4);
  mine.place("values", offset.data(), count.data());
  mine.set("n", 5);
  EXPECT_EQ(mine.block_of("values").bytes(), 80U);
  mine.set("n", 3);
  EXPECT_THROW(mine.write("values", values.data()), usage_error);
}

TEST_F(blocks_output, says_what_cannot_be_written) {
  output mine(described(), 0, 1);
  const auto values = counted_up(20);
  mine.write("values", values.data());
  std::ofstream(at("output.000000")) << "a file in place of the folder";
  try {
    (void)mine.end_iteration(0);
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("output.000000"));
  }
  mine.write("values", values.data());
  EXPECT_TRUE(mine.end_iteration(1));
}

TEST(buffers, that_nobody_holds_are_used_again) {
  buffers all;
  int looked = 0;
  const auto look = [&] { ++looked; };
  auto first = all.take(10000, look);
  const buffer* const known = first.get();
  const auto second = all.take(10000, look);
  EXPECT_NE(second.get(), known);
  EXPECT_EQ(looked, 2);
  first.reset();
  const auto again = all.take(50000, look);
  EXPECT_EQ(again.get(), known);
  EXPECT_EQ(again->size(), 50000U);
  again->data()[49999] = std::byte{1};
  EXPECT_EQ(looked, 2);
}

TEST(making_of_hdf5_files, ends_at_the_first_failure_and_leaves_nothing) {
  const temporary_folder folder;
  const std::string path = folder.path() / "a.h5";
  EXPECT_THROW(make_hdf5_file({path, false, "1"}, false, [](hid_t) { throw hdf5_failure{"it is full"}; }), error);
  EXPECT_EQ(entries(folder.path()), 0);
  EXPECT_EQ(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

}  // namespace
}  // namespace lull::stage::blocks
