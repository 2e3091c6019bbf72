// Filters as bytes: containers, streams, callbacks, files, maps.
#ifndef GLOOM_TESTS_BYTES_TESTS_HPP
#define GLOOM_TESTS_BYTES_TESTS_HPP

#include "both_modes.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bytes_tests {

using gloom::errc;
using gloom::filter;

inline filter some(std::uint64_t seed = 0) {
    gloom::options wanted;
    wanted.expected_items = 5000;
    wanted.fp_rate = 0.01;
    wanted.seed = seed;
    filter f = must(filter::create(wanted));
    for (int i = 0; i < 5000; i++)
        static_cast<void>(f.add(gloom::key_of(i)));
    return f;
}

// A folder that is gone when the test ends.
class Files : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "gloom-cpp-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const std::string &name) const { return (folder_ / name).string(); }
    std::filesystem::path folder_;
};

TEST(Bytes, AnyContainer) {
    const filter f = some();
    const auto bytes = must(f.serialize());
    static_assert(std::is_same_v<decltype(bytes), const std::vector<std::byte>>);
    const auto text = must(f.serialize<std::string>());
    const auto v1 = must(f.serialize<std::vector<unsigned char>>(gloom::format::v1));
    EXPECT_EQ(bytes.size(), text.size());
    EXPECT_EQ(bytes.size(), must(f.serialized_size()));
    EXPECT_EQ(v1.size(), f.num_blocks() * 64 + 25);
    EXPECT_EQ(v1[0], 1);
    for (const gloom::bytes_view from : {gloom::bytes_view(bytes), gloom::bytes_view(text), gloom::bytes_view(v1)}) {
        const filter back = must(filter::deserialize(from));
        EXPECT_EQ(back, f);
        EXPECT_EQ(back.count(), f.count());
    }
    std::vector<char> buffer(v1.size() + 10);
    EXPECT_EQ(must(f.serialize_to(buffer.data(), buffer.size(), gloom::format::v1)), v1.size());
    EXPECT_FAILURE(f.serialize_to(buffer.data(), 10, gloom::format::v1), errc::buffer_too_small, std::to_string(v1.size()));
}

TEST(Bytes, LoadOptions) {
    const auto bytes = must(some(3).serialize());
    gloom::load_options wanted;
    wanted.kind = gloom::kind::sharded;
    wanted.num_shards = 2;
    const filter back = must(filter::deserialize(bytes, wanted));
    EXPECT_EQ(back.kind(), gloom::kind::sharded);
    EXPECT_EQ(back.num_shards(), 2U);
    EXPECT_EQ(back.seed(), 3U);
    wanted.max_bytes = 64;
    EXPECT_FAILURE(filter::deserialize(bytes, wanted), errc::limit, "max_bytes = 64");
}

TEST(Bytes, Damaged) {
    auto bytes = must(some().serialize());
    bytes[bytes.size() / 2] ^= std::byte{1};
    EXPECT_FAILURE(filter::deserialize(bytes), errc::corrupt, "");
    EXPECT_FAILURE(filter::deserialize(""), errc::corrupt, "");
    EXPECT_FAILURE(some(1).serialize(gloom::format::v1), errc::unsupported, "seed");
    filter f = some();
    EXPECT_FAILURE(f.merge_serialized(bytes), errc::corrupt, "");
    EXPECT_EQ(f, some());
}

TEST(Streams, OneAfterTheOther) {
    std::stringstream stream;
    MUST_DO(some(1).write(stream));
    MUST_DO(some().write(stream, gloom::format::v1));
    stream << "tail";
    const filter first = must(filter::read(stream));
    const filter second = must(filter::read(stream));
    EXPECT_EQ(first, some(1));
    EXPECT_EQ(second, some());
    std::string rest;
    stream >> rest;
    EXPECT_EQ(rest, "tail") << "no byte too many was read";
    EXPECT_FAILURE(filter::read(stream), errc::corrupt, "");
}

TEST(Streams, Broken) {
    std::stringstream cut(must(some().serialize<std::string>()).substr(0, 1000));
    EXPECT_FAILURE(filter::read(cut), errc::corrupt, "");
    std::ofstream full("/dev/full", std::ios::binary);
    full.rdbuf()->pubsetbuf(nullptr, 0);
    EXPECT_FAILURE(some().write(full), errc::io, "");
    EXPECT_FALSE(full.good());
    std::ostream nowhere(nullptr);
    EXPECT_FAILURE(some().write(nowhere), errc::io, "");
    std::istream nothing(nullptr);
    EXPECT_FAILURE(filter::read(nothing), errc::io, "");
    std::ifstream none("/nowhere/at/all", std::ios::binary); // has failed, but is not bad
    EXPECT_FAILURE(filter::read(none), errc::io, "");
    std::stringstream fails(must(some().serialize<std::string>()));
    fails.setstate(std::ios::failbit);
    EXPECT_FAILURE(filter::read(fails), errc::io, "");
    std::stringstream at_end; // has failed, too, but because it is at its end
    at_end.get();
    EXPECT_FAILURE(filter::read(at_end), errc::corrupt, "");
}

TEST(Callbacks, PieceByPiece) {
    const filter f = some();
    std::string bytes;
    const auto take = [&](gloom::bytes_view piece) {
        bytes.append(reinterpret_cast<const char *>(piece.data()), piece.size());
        return 0;
    };
    MUST_DO(f.write_to(take));
    EXPECT_EQ(bytes, must(f.serialize<std::string>()));
    std::size_t at = 0;
    const auto give = [&](void *data, std::size_t) {
        std::memcpy(data, bytes.data() + at, 1); // as slowly as can be
        return at++ < bytes.size() ? 1 : 0;
    };
    EXPECT_EQ(must(filter::read_from(give)), f);
    EXPECT_EQ(at, bytes.size());
    EXPECT_FAILURE(f.write_to([](gloom::bytes_view) { return -1; }), errc::cancelled, "");
    EXPECT_FAILURE(f.write_to([](gloom::bytes_view) { return ENOSPC; }), errc::io, "");
    EXPECT_FAILURE(f.write_to([](gloom::bytes_view) { return EPERM; }), errc::cancelled, ""); // its number is 1
    EXPECT_FAILURE(f.write_to([](gloom::bytes_view) { return true; }), errc::cancelled, "");
    EXPECT_FAILURE(filter::read_from([](void *, std::size_t) { return -EPERM; }), errc::cancelled, "");
    EXPECT_FAILURE(filter::read_from([](void *, std::size_t) { return -EIO; }), errc::io, "");
    EXPECT_FAILURE(filter::read_from([](void *, std::size_t) { return -1; }), errc::cancelled, "");
    EXPECT_FAILURE(filter::read_from([](void *, std::size_t) { return 0; }), errc::corrupt, "");
}

#if GLOOM_EXCEPTIONS
TEST(Callbacks, MayThrow) {
    const filter f = some();
    const auto throws_out = [](gloom::bytes_view) -> int { throw std::runtime_error("out"); };
    EXPECT_THROW(f.write_to(throws_out), std::runtime_error);
    const auto throws_in = [](void *, std::size_t) -> int { throw std::out_of_range("in"); };
    EXPECT_THROW(static_cast<void>(filter::read_from(throws_in)), std::out_of_range);
    std::stringstream stream;
    stream.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
    EXPECT_THROW(static_cast<void>(filter::read(stream)), std::ios::failure);
    std::ostream nowhere(nullptr);
    nowhere.clear(std::ios::goodbit | std::ios::badbit);
    EXPECT_THROW(nowhere.exceptions(std::ios::badbit), std::ios::failure);
    EXPECT_THROW(f.write(nowhere), std::ios::failure);
}

TEST(Failure, TellsErrno) {
    try {
        static_cast<void>(filter::load("/nowhere/at/all"));
        ADD_FAILURE();
    } catch (const gloom::error &why) {
        EXPECT_EQ(why.os_error(), ENOENT);
    }
}
#else
TEST(Failure, TellsErrno) {
    EXPECT_EQ(filter::load("/nowhere/at/all").error().os_error(), ENOENT);
    EXPECT_EQ(filter().add("").error().os_error(), 0);
}
#endif

TEST_F(Files, SaveLoadInspect) {
    const filter f = some(8);
    MUST_DO(f.save(path("native")));
    MUST_DO(some().save(path("v1").c_str(), gloom::format::v1));
    EXPECT_EQ(must(filter::load(path("native"))), f);
    gloom::load_options wanted;
    wanted.kind = gloom::kind::plain;
    EXPECT_EQ(must(filter::load(folder_ / "v1", wanted)).kind(), gloom::kind::plain);
    const gloom::file_info native = must(gloom::inspect(path("native")));
    EXPECT_EQ(native.format, gloom::format::native);
    EXPECT_EQ(native.seed, 8U);
    EXPECT_EQ(native.num_blocks, f.num_blocks());
    EXPECT_EQ(native.k, f.k());
    EXPECT_EQ(native.count, 5000U);
    EXPECT_EQ(native.expected_items, 5000U);
    EXPECT_EQ(native.fp_rate, 0.01);
    EXPECT_EQ(native.bytes, must(f.serialized_size()));
    EXPECT_FALSE(native.dirty);
    EXPECT_EQ(must(gloom::inspect(path("v1"))).format, gloom::format::v1);
    EXPECT_FAILURE(filter::load(path("none")), errc::io, "");
    EXPECT_FAILURE(f.save(path("no/such/folder")), errc::io, "");
    EXPECT_FAILURE(gloom::inspect(path("none")), errc::io, "");
}

TEST_F(Files, Map) {
    gloom::options wanted;
    wanted.expected_items = 1000;
    wanted.fp_rate = 0.01;
    {
        filter made = must(filter::map_create(path("map"), wanted));
        EXPECT_TRUE(made.is_mapped());
        MUST_DO(made.add("first"));
        MUST_DO(made.sync());
        EXPECT_TRUE(must(gloom::inspect(path("map"))).dirty);
        const filter reader = must(filter::map(path("map")));
        EXPECT_TRUE(reader.test("first"));
        EXPECT_FALSE(reader.test("second"));
        MUST_DO(made.add("second"));
        EXPECT_TRUE(reader.test("second"));
        EXPECT_FAILURE(made.save(path("map")), errc::busy, "");
    }
    gloom::map_options writing;
    writing.read_write = true;
    writing.verify = true;
    filter again = must(filter::map(path("map"), writing));
    MUST_DO(again.add("third"));
    EXPECT_EQ(again.count(), 3U);
    again = filter();
    filter reader = must(filter::map(path("map"), {}));
    EXPECT_TRUE(reader.is_read_only());
    EXPECT_TRUE(reader.test("third"));
    EXPECT_FAILURE(reader.add("fourth"), errc::read_only, "");
    EXPECT_FAILURE(filter::map_create(path("map"), wanted), errc::io, "");
}

TEST_F(Files, MapWithLimit) {
    const filter f = some();
    MUST_DO(f.save(path("map")));
    gloom::map_options wanted;
    for (const bool writing : {false, true}) {
        wanted.read_write = writing;
        wanted.max_bytes = f.num_blocks() * 64 - 1;
        EXPECT_FAILURE(filter::map(path("map"), wanted), errc::limit, "max_bytes");
        wanted.max_bytes++;
        const filter mapped = must(filter::map(path("map"), wanted));
        EXPECT_EQ(mapped, f);
        EXPECT_EQ(mapped.is_read_only(), !writing);
    }
}

TEST_F(Files, Stale) {
    const filter f = some();
    MUST_DO(f.save(path("map")));
    filter mapped = must(filter::map(path("map")));
    EXPECT_FALSE(mapped.is_stale());
    MUST_DO(some(8).save(path("map")));
    EXPECT_TRUE(mapped.is_stale());
    EXPECT_EQ(mapped, f);
    mapped = must(filter::map(path("map")));
    EXPECT_FALSE(mapped.is_stale());
    std::filesystem::remove(path("map"));
    EXPECT_TRUE(mapped.is_stale());
    EXPECT_FALSE(filter().is_stale());
}

TEST_F(Files, SpecialFiles) {
    const filter f = some();
    const auto bytes = must(f.serialize());
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_FAILURE(filter::load(path("fifo")), errc::io, "FIFO"); // and waits for nobody
    EXPECT_FAILURE(filter::map(path("fifo")), errc::io, "FIFO");
    EXPECT_FAILURE(gloom::inspect(path("fifo")), errc::io, "FIFO");
    EXPECT_FAILURE(filter::load(folder_), errc::io, "folder");
    std::thread writer([&] {
        std::ofstream(path("fifo"), std::ios::binary)
            .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    });
    gloom::load_options wanted;
    wanted.special_files = true;
    EXPECT_EQ(must(filter::load(path("fifo"), wanted)), f);
    writer.join();
}

} // namespace bytes_tests

#endif
