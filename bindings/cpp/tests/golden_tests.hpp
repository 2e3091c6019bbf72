// The frozen figures of ctests/golden (see README.md there) through C++. GLOOM_GOLDEN names the folder.
#ifndef GLOOM_TESTS_GOLDEN_TESTS_HPP
#define GLOOM_TESTS_GOLDEN_TESTS_HPP

#include "both_modes.hpp"
#include "sha256.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace golden_tests {

using gloom::filter;

inline std::string file(const std::string &name) {
    std::ifstream in(std::string(GLOOM_GOLDEN) + "/" + name, std::ios::binary);
    EXPECT_TRUE(in) << name;
    return {std::istreambuf_iterator<char>(in), {}};
}

struct recipe {
    std::string name, sha256;
    std::uint64_t num_blocks = 0, member_keys = 0, count = 0, probes = 0, probe_hits = 0;
    std::uint32_t k = 0;
    bool edge_keys = false;
    std::vector<std::uint64_t> first_probe_hits;
};

// What follows "name": in an object. The file is ours, and its strings have no escapes; a whole JSON reader would be
// longer than all else here.
inline std::string_view field(std::string_view object, const std::string &name) {
    const std::size_t at = object.find('"' + name + "\":");
    if (at == std::string_view::npos) {
        ADD_FAILURE() << name << " is missing";
        return "0";
    }
    object.remove_prefix(at + name.size() + 3);
    object.remove_prefix(object.find_first_not_of(" \n"));
    return object;
}
inline std::uint64_t number(std::string_view object, const std::string &name) {
    return std::strtoull(field(object, name).data(), nullptr, 10);
}
inline std::string text(std::string_view object, const std::string &name) {
    const std::string_view quoted = field(object, name);
    return std::string(quoted.substr(1, quoted.find('"', 1) - 1));
}

inline std::vector<recipe> recipes() {
    const std::string json = file("v1_recipes.json");
    std::vector<recipe> all;
    for (std::size_t at = json.find('{'); at != std::string::npos; at = json.find('{', at + 1)) {
        const std::string_view object = std::string_view(json).substr(at, json.find('}', at) - at);
        recipe r;
        r.name = text(object, "name");
        r.sha256 = text(object, "sha256");
        r.num_blocks = number(object, "num_blocks");
        r.k = static_cast<std::uint32_t>(number(object, "k"));
        r.member_keys = number(object, "member_keys");
        r.count = number(object, "count");
        r.probes = number(object, "probes");
        r.probe_hits = number(object, "probe_hits");
        r.edge_keys = field(object, "edge_keys").substr(0, 4) == "true";
        std::string hits(field(object, "first_probe_hits"));
        hits.resize(hits.find(']'));
        for (char &c : hits)
            c = std::isdigit(static_cast<unsigned char>(c)) != 0 ? c : ' ';
        std::istringstream numbers(hits);
        r.first_probe_hits.assign(std::istream_iterator<std::uint64_t>(numbers), {});
        all.push_back(std::move(r));
    }
    return all;
}

inline std::vector<std::string> edge_keys() {
    const std::string empty;
    return {empty, std::string(1, '\0'), "\xff", "a", "ab", "abc", "abcd", std::string(8, '\0'), std::string(9, '\xff'),
            "0123456789abcdef", "0123456789abcdefg", std::string(128, 'x'), std::string(129, 'y'),
            std::string(240, 'z'), std::string(241, 'w'), "hello, \xe4\xb8\x96\xe7\x95\x8c"};
}

inline std::string numbered_key(const std::string &word, std::uint64_t i) {
    std::string key = word + "-" + std::to_string(i) + ":";
    for (std::uint64_t j = 0; j < i * 7 % 1031; j++)
        key += static_cast<char>(j & 0xff);
    return key;
}

inline std::vector<std::string> keys_of(const recipe &r) {
    std::vector<std::string> keys;
    if (r.edge_keys)
        keys = edge_keys();
    for (std::uint64_t i = 0; i < r.member_keys; i++)
        keys.push_back(numbered_key("member", i));
    return keys;
}

TEST(Golden, Recipes) {
    EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const std::vector<recipe> all = recipes();
    ASSERT_EQ(all.size(), 19U);
    std::uint64_t most_probes = 0;
    for (const recipe &r : all)
        most_probes = std::max(most_probes, r.probes);
    std::vector<std::string> probes;
    for (std::uint64_t i = 0; i < most_probes; i++)
        probes.push_back(numbered_key("probe", i));

    for (const recipe &r : all) {
        SCOPED_TRACE(r.name);
        const std::vector<std::string> keys = keys_of(r);
        for (const gloom::kind kind : {gloom::kind::plain, gloom::kind::atomic, gloom::kind::sharded}) {
            gloom::options wanted;
            wanted.kind = kind;
            wanted.num_blocks = r.num_blocks;
            wanted.k = r.k;
            filter f = must(filter::create(wanted));
            if (kind == gloom::kind::plain) {
                for (const std::string &key : keys)
                    MUST_DO(f.add(key));
            } else {
                MUST_DO(f.add_all(keys));
            }
            EXPECT_EQ(f.count(), r.count);
            EXPECT_EQ(sha256(must(f.serialize<std::string>(gloom::format::v1))), r.sha256);
            std::vector<bool> answers;
            const auto end = probes.begin() + static_cast<std::ptrdiff_t>(r.probes);
            EXPECT_EQ(f.test_all(probes.begin(), end, std::back_inserter(answers)), r.probe_hits);
            std::vector<std::uint64_t> hits;
            for (std::uint64_t i = 0; i < r.probes && hits.size() < r.first_probe_hits.size(); i++)
                if (answers[i])
                    hits.push_back(i);
            EXPECT_EQ(hits, r.first_probe_hits);
        }
    }
}

// n lines of a table, without comment and head.
inline std::vector<std::vector<std::string>> table(const std::string &name) {
    std::istringstream lines(file(name));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        if (std::isdigit(static_cast<unsigned char>(line[0])) != 0)
            rows.emplace_back(std::istream_iterator<std::string>(fields), std::istream_iterator<std::string>());
    }
    return rows;
}

inline std::string input(std::size_t size) {
    std::string bytes;
    for (std::size_t j = 0; j < size; j++)
        bytes += static_cast<char>((j * 131 + size + 7) & 0xff);
    return bytes;
}

inline void expect_hash(std::uint64_t seed, const std::string &size, const std::string &hi, const std::string &lo) {
    const gloom::hash hash = gloom::hash_of(input(std::stoul(size)), seed);
    EXPECT_EQ(hash.hi, std::strtoull(hi.c_str(), nullptr, 16)) << "seed " << seed << ", length " << size;
    EXPECT_EQ(hash.lo, std::strtoull(lo.c_str(), nullptr, 16)) << "seed " << seed << ", length " << size;
}

TEST(Golden, Hashes) {
    const auto rows = table("hash_vectors.tsv");
    EXPECT_GT(rows.size(), 20U);
    for (const auto &row : rows)
        expect_hash(0, row.at(0), row.at(1), row.at(2));
    const auto seeded = table("seeded_vectors.tsv");
    EXPECT_GT(seeded.size(), 10U);
    for (const auto &row : seeded)
        expect_hash(std::strtoull(row.at(0).c_str(), nullptr, 10), row.at(1), row.at(2), row.at(3));
    const auto siphash = table("siphash_vectors.tsv");
    EXPECT_GT(siphash.size(), 10U);
    for (const auto &row : siphash) {
        const gloom::hash hash =
            gloom::siphash_of(input(std::stoul(row.at(1))), std::strtoull(row.at(0).c_str(), nullptr, 10));
        EXPECT_EQ(hash.hi, std::strtoull(row.at(2).c_str(), nullptr, 16)) << row.at(0) << ", length " << row.at(1);
        EXPECT_EQ(hash.lo, std::strtoull(row.at(3).c_str(), nullptr, 16)) << row.at(0) << ", length " << row.at(1);
    }
}

} // namespace golden_tests

#endif
