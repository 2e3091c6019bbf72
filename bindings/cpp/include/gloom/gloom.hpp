/* gloom for C++17 and newer. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 *   auto users = gloom::filter::atomic(1'000'000, 0.01);
 *   users.add("user:17");
 *   if (users.test(name)) ask_the_database(name);
 *
 * Everything is inline over the C functions of gloom.h, which says more about each: threads, costs, failures. Nothing
 * of the standard library crosses the boundary to the compiled library, so compilers and standards may be mixed.
 *
 * Keys        are bytes: strings, string_views, and vectors, arrays and spans of bytes convert to gloom::bytes_view.
 *             Other values are keys only if you say so, gloom::key_of(number), and only if each of their bytes means
 *             something: a struct with padding does not compile, nor does a float. (A struct that holds a pointer does;
 *             see key_of.)
 * Failure     is a gloom::error (a std::system_error). Without exceptions (-fno-exceptions, or GLOOM_NO_EXCEPTIONS
 *             defined) the same functions return gloom::result<T>; the header writes that as gloom::outcome<T>. The
 *             two live in different inline namespaces, so that a program may have both. Streams and callbacks must not
 *             throw then, even where the compiler has exceptions: that ends the process.
 * Tests       never fail: a filter that is empty or moved from answers true, "maybe".
 * Threads     as in gloom.h: any number may add and test at once (a plain filter: one adds). Moving, assigning and
 *             destroying a filter want it to themselves.
 */
#ifndef GLOOM_GLOOM_HPP
#define GLOOM_GLOOM_HPP

#include <gloom.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <istream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "gloom.hpp needs C++17"
#endif

// GLOOM_EXCEPTIONS: 1 if failures are thrown, 0 if they are returned.
#if defined(__cpp_exceptions) && !defined(GLOOM_NO_EXCEPTIONS)
#define GLOOM_EXCEPTIONS 1
#else
#define GLOOM_EXCEPTIONS 0
#endif

#define GLOOM_DETAIL_JOIN2(a, b) a##b
#define GLOOM_DETAIL_JOIN(a, b) GLOOM_DETAIL_JOIN2(a, b)
#if GLOOM_EXCEPTIONS
#define GLOOM_DETAIL_NAMESPACE GLOOM_DETAIL_JOIN(abi, GLOOM_ABI_VERSION)
#else
#define GLOOM_DETAIL_NAMESPACE GLOOM_DETAIL_JOIN(GLOOM_DETAIL_JOIN(abi, GLOOM_ABI_VERSION), _results)
#endif

#if defined(__clang__)
#define GLOOM_DETAIL_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define GLOOM_DETAIL_LIFETIMEBOUND
#endif

namespace gloom {
inline namespace GLOOM_DETAIL_NAMESPACE {

// -- Failure --------------------------------------------------------------------------------------------------------

// The statuses of gloom.h. Later releases may add some.
enum class errc : gloom_status {
    ok = GLOOM_OK,
    null = GLOOM_ERR_NULL, // also: the filter is empty or was moved from
    invalid_argument = GLOOM_ERR_INVALID_ARGUMENT,
    out_of_memory = GLOOM_ERR_OUT_OF_MEMORY,
    limit = GLOOM_ERR_LIMIT,
    unreachable_rate = GLOOM_ERR_UNREACHABLE_RATE,
    buffer_too_small = GLOOM_ERR_BUFFER_TOO_SMALL,
    corrupt = GLOOM_ERR_CORRUPT,
    unsupported = GLOOM_ERR_UNSUPPORTED,
    incompatible = GLOOM_ERR_INCOMPATIBLE,
    read_only = GLOOM_ERR_READ_ONLY,
    io = GLOOM_ERR_IO,
    cancelled = GLOOM_ERR_CANCELLED,
    busy = GLOOM_ERR_BUSY,
    panic = GLOOM_ERR_PANIC,
};

// The category of the error codes made from errc. They compare equal to the std::errc that means the same.
[[nodiscard]] inline const std::error_category &category() noexcept {
    class gloom_category final : public std::error_category {
    public:
        const char *name() const noexcept override { return "gloom"; }
        std::string message(int status) const override { return gloom_status_string(status); }
        std::error_condition default_error_condition(int status) const noexcept override {
            switch (static_cast<errc>(status)) {
            case errc::null:
            case errc::invalid_argument:
            case errc::unreachable_rate:
                return std::errc::invalid_argument;
            case errc::out_of_memory:
                return std::errc::not_enough_memory;
            case errc::buffer_too_small:
                return std::errc::no_buffer_space;
            case errc::unsupported:
                return std::errc::not_supported;
            case errc::read_only:
                return std::errc::operation_not_permitted;
            case errc::io:
                return std::errc::io_error;
            case errc::cancelled:
                return std::errc::operation_canceled;
            case errc::busy:
                return std::errc::device_or_resource_busy;
            default:
                return {status, *this};
            }
        }
    };
    static const gloom_category the_category;
    return the_category;
}

[[nodiscard]] inline std::error_code make_error_code(errc status) noexcept {
    return {static_cast<int>(status), category()};
}

#if GLOOM_EXCEPTIONS

// What is thrown. what() names the argument, its value and the allowed range, where there is one to name.
class error : public std::system_error {
public:
    explicit error(errc status) : std::system_error(make_error_code(status)) {}
    error(errc status, const std::string &message, int os_error = 0)
        : std::system_error(make_error_code(status), message), os_error_(os_error) {}

    [[nodiscard]] errc status() const noexcept { return static_cast<errc>(code().value()); }
    // errno of the operating system, or 0.
    [[nodiscard]] int os_error() const noexcept { return os_error_; }

private:
    int os_error_ = 0;
};

template <class T> using outcome = T;

#else

// What went wrong, where nothing is thrown. Cheap unless there is a message.
class [[nodiscard]] error {
public:
    explicit error(errc status) noexcept : status_(status) {}
    explicit error(const gloom_error &why) noexcept
        : status_(static_cast<errc>(why.status)), why_(new (std::nothrow) gloom_error(why)) {}

    [[nodiscard]] errc status() const noexcept { return status_; }
    [[nodiscard]] std::error_code code() const noexcept { return make_error_code(status_); }
    // errno of the operating system, or 0.
    [[nodiscard]] int os_error() const noexcept { return why_ ? why_->os_error : 0; }
    // Names the argument, its value and the allowed range, where there is one to name. Never NULL.
    [[nodiscard]] const char *what() const noexcept {
        return why_ ? why_->message : gloom_status_string(static_cast<gloom_status>(status_));
    }

private:
    errc status_;
    std::unique_ptr<gloom_error> why_; // a gloom_error is 512 bytes
};

// A value or the error that there is instead. Asking for what is not there ends the process.
template <class T> class [[nodiscard]] result {
public:
    using value_type = T;

    result(T value) : value_(std::move(value)), error_(errc::ok) {}
    result(gloom::error why) noexcept : error_(std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    // Not for result<bool>, where `if (result)` would be taken for the value.
    template <class U = T, std::enable_if_t<!std::is_same_v<U, bool>, int> = 0>
    [[nodiscard]] explicit operator bool() const noexcept {
        return has_value();
    }
    [[nodiscard]] errc status() const noexcept { return error_.status(); }
    [[nodiscard]] const gloom::error &error() const noexcept { return error_; }

    [[nodiscard]] T &value() & noexcept { return there(); }
    [[nodiscard]] const T &value() const & noexcept { return const_cast<result *>(this)->there(); }
    [[nodiscard]] T &&value() && noexcept { return std::move(there()); }
    [[nodiscard]] T &operator*() & noexcept { return there(); }
    [[nodiscard]] const T &operator*() const & noexcept { return value(); }
    [[nodiscard]] T &&operator*() && noexcept { return std::move(there()); }
    [[nodiscard]] T *operator->() noexcept { return &there(); }
    [[nodiscard]] const T *operator->() const noexcept { return &value(); }

private:
    T &there() noexcept {
        if (!value_)
            std::abort();
        return *value_;
    }

    std::optional<T> value_;
    gloom::error error_;
};

template <> class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() noexcept : error_(errc::ok) {}
    result(gloom::error why) noexcept : error_(std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return error_.status() == errc::ok; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] errc status() const noexcept { return error_.status(); }
    [[nodiscard]] const gloom::error &error() const noexcept { return error_; }
    void value() const noexcept {
        if (!has_value())
            std::abort();
    }

private:
    gloom::error error_;
};

template <class T> using outcome = result<T>;

#endif

// -- Keys -----------------------------------------------------------------------------------------------------------

namespace detail {

template <class T> inline constexpr bool is_text_unit = std::is_same_v<T, char>
#if defined(__cpp_char8_t)
                                                        || std::is_same_v<T, char8_t>
#endif
    ;

template <class T>
inline constexpr bool is_byte = is_text_unit<T> || std::is_same_v<T, signed char> ||
                                std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte>;

// The elements of what lies in one piece and knows its size: arrays, vectors, strings, spans. void for others.
template <class T, class = void> struct contiguous {
    using element = void;
};
template <class T>
struct contiguous<T, std::void_t<decltype(std::data(std::declval<const T &>())),
                                 decltype(std::size(std::declval<const T &>()))>> {
    using element = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const T &>()))>>;
};
template <class T> using element_of = typename contiguous<T>::element;
template <class Range> using elements_of = element_of<std::remove_reference_t<Range>>; // Range as in Range &&

// An array of char is a text that ends with its NUL, so that "abc" has three bytes; any other range of bytes is taken
// whole.
template <class T>
inline constexpr bool is_bytes = is_byte<element_of<T>> && !(std::is_array_v<T> && is_text_unit<element_of<T>>);

template <class T>
inline constexpr bool is_text = !is_bytes<T> && !std::is_null_pointer_v<T> &&
                                std::is_convertible_v<const T &, std::string_view>;

#if defined(__cpp_char8_t)
template <class T>
inline constexpr bool is_u8_text = !is_bytes<T> && !std::is_null_pointer_v<T> && !std::is_arithmetic_v<T> &&
                                   std::is_convertible_v<const T &, const char8_t *>;
#endif

// The units of an array before its first NUL. It need not have one: then all are the text.
template <class Unit, class Array> constexpr std::size_t text_size(const Array &text) noexcept {
    const Unit *const nul = std::char_traits<Unit>::find(text, std::extent_v<Array>, Unit());
    return nul ? static_cast<std::size_t>(nul - text) : std::extent_v<Array>;
}

} // namespace detail

// Bytes that belong to somebody else: a key, or a serialized filter. A std::span<const std::byte> can be made of it.
//
// That of a null C string is no key but NULL with a size of 1, which gloom.h refuses everywhere: tests answer true,
// adds end in errc::null, hash_of gives zeros.
class bytes_view {
public:
    constexpr bytes_view() noexcept = default;
    bytes_view(const void *data, std::size_t size) noexcept
        : data_(static_cast<const std::byte *>(data)), size_(size) {}

    // std::string, std::string_view, vectors, arrays, spans: of char, unsigned char, std::byte, ...
    template <class T, std::enable_if_t<!std::is_same_v<T, bytes_view> && detail::is_bytes<T>, int> = 0>
    bytes_view(const T &bytes GLOOM_DETAIL_LIFETIMEBOUND) noexcept : bytes_view(std::data(bytes), std::size(bytes)) {}

    // "literals" and arrays up to the NUL (or their end), const char * up to its NUL, and whatever else converts to
    // std::string_view.
    template <class T, std::enable_if_t<!std::is_same_v<T, bytes_view> && detail::is_text<T>, int> = 0, class = void>
    bytes_view(const T &text GLOOM_DETAIL_LIFETIMEBOUND) : bytes_view(of_text<char>(text)) {}

#if defined(__cpp_char8_t)
    template <class T, std::enable_if_t<!std::is_same_v<T, bytes_view> && detail::is_u8_text<T>, int> = 0,
              class = void, class = void>
    bytes_view(const T &text GLOOM_DETAIL_LIFETIMEBOUND) : bytes_view(of_text<char8_t>(text)) {}
#endif

    [[nodiscard]] constexpr const std::byte *data() const noexcept { return data_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr const std::byte *begin() const noexcept { return data_; }
    [[nodiscard]] constexpr const std::byte *end() const noexcept { return data_ + size_; }

private:
    template <class Unit, class T> static bytes_view of_text(const T &text) {
        if constexpr (std::extent_v<T> != 0) {
            return {text, detail::text_size<Unit>(text)};
        } else if constexpr (std::is_pointer_v<std::decay_t<T>>) {
            const Unit *const start = text;
            return start ? bytes_view(start, std::char_traits<Unit>::length(start)) : bytes_view(nullptr, 1);
        } else {
            const std::basic_string_view<Unit> view(text);
            return {view.data(), view.size()};
        }
    }

    const std::byte *data_ = nullptr;
    std::size_t size_ = 0;
};

// The hash of a key, to ask many filters of one hash and seed about it.
using hash = gloom_hash;

namespace detail {

// What can be asked of a type: `*object`, as of pointers and iterators; a call, as of lambdas; a reference to something
// else, as of a std::reference_wrapper.
template <class T, class = void> inline constexpr bool has_star = false;
template <class T> inline constexpr bool has_star<T, std::void_t<decltype(*std::declval<T &>())>> = true;
template <class T, class = void> inline constexpr bool has_call = false;
template <class T> inline constexpr bool has_call<T, std::void_t<decltype(&T::operator())>> = true;
template <class T, class = void> inline constexpr bool refers = false;
template <class T>
inline constexpr bool refers<T, std::void_t<typename T::type>> =
    std::is_convertible_v<const T &, std::add_lvalue_reference_t<typename T::type>>;

// Does an object only point at its contents? So that its own bytes are an address, as far as its type shows that.
template <class T>
inline constexpr bool points = std::is_member_pointer_v<T> || std::is_null_pointer_v<T> || has_star<T> || has_call<T> ||
                               refers<T> || std::is_convertible_v<const T &, std::string_view> ||
                               std::is_same_v<T, bytes_view> || !std::is_void_v<element_of<T>>;
template <class T, std::size_t N> inline constexpr bool points<T[N]> = points<T>;
template <class T, std::size_t N> inline constexpr bool points<std::array<T, N>> = points<T>;

// Can an object's own bytes be a key? Not where some of them are padding (or equal values differ in bytes, as with
// floats), and not those of something that only points at its contents. An array of char is a text.
template <class T>
inline constexpr bool is_value = std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T> &&
                                 !points<T> && !std::is_same_v<T, hash> &&
                                 !std::is_convertible_v<const T &, std::string_view>;

template <class T> constexpr void require_value() noexcept {
    static_assert(is_value<T>,
                  "not a value whose bytes can be a key: it has padding, is a float, a pointer, an iterator, a function "
                  "or a view of something else, or is not trivially copyable; make a string or an array of bytes of it");
}

} // namespace detail

// The bytes of a value as a key: of an integer, an enum, or a struct or array of such without padding. The type is part
// of the key: 17 as int and 17 as std::uint64_t have different bytes. Refers to the value, which must outlive it.
//
// A struct that holds a pointer or a reference cannot be told from one that holds a number: it compiles, and the key is
// the address, which is another one for an equal value and in the next run.
template <class T> [[nodiscard]] bytes_view key_of(const T &value GLOOM_DETAIL_LIFETIMEBOUND) noexcept {
    detail::require_value<T>();
    return {std::addressof(value), sizeof value};
}

// Hashes a key for filters that hash by XXH3 with this seed. Zeros for what is no key (a null C string).
[[nodiscard]] inline hash hash_of(bytes_view key, std::uint64_t seed = 0) noexcept {
    return gloom_hash_key(key.data(), key.size(), seed);
}

// The same for filters that hash by SipHash.
[[nodiscard]] inline hash siphash_of(bytes_view key, std::uint64_t seed) noexcept {
    return gloom_siphash_key(key.data(), key.size(), seed);
}

// -- Options and facts ----------------------------------------------------------------------------------------------

// How a filter is written; its bits are the same.
enum class kind : std::int32_t {
    plain = GLOOM_KIND_PLAIN,     // one writer at a time
    atomic = GLOOM_KIND_ATOMIC,   // any number, lock-free
    sharded = GLOOM_KIND_SHARDED, // any number; the fastest adds by many threads
};

// How keys are hashed. Filters of different hashes do not merge.
enum class hash_kind : std::int32_t {
    xxh3 = GLOOM_HASH_XXH3,
    siphash = GLOOM_HASH_SIPHASH, // for keys from enemies; see docs/files.md, "Seeds and chosen keys"
};

// How a filter is stored.
enum class format : std::int32_t {
    native = GLOOM_FORMAT_NATIVE, // everything, and for use in place by filter::map
    v1 = GLOOM_FORMAT_V1,         // what the Go module jcalabro/gloom reads; holds no seed
};

// What a new filter shall be like: expected_items and fp_rate, or num_blocks and k.
struct options {
    gloom::kind kind = gloom::kind::atomic;
    std::uint64_t expected_items = 0;
    double fp_rate = 0;
    std::uint64_t num_blocks = 0;     // of 64 bytes
    std::uint32_t k = 0;              // probes a key, 3 to 17
    std::uint32_t num_shards = 0;     // sharded only; 0: the library chooses
    std::uint64_t seed = 0;           // not 0: other implementations cannot read it as v1
    gloom::hash_kind hash = gloom::hash_kind::xxh3; // siphash: the seed is its key, and must not be 0
    std::uint64_t max_bytes = 0;      // of the blocks; 0: no limit
    std::uint64_t block_multiple = 0; // for fold; 0: none
    bool small_pages = false;         // no huge pages

    [[nodiscard]] gloom_options to_c() const noexcept {
        gloom_options c = GLOOM_OPTIONS_INIT;
        c.kind = static_cast<std::int32_t>(kind);
        c.flags = (small_pages ? std::uint32_t{GLOOM_FLAG_SMALL_PAGES} : 0U) |
                  (hash == gloom::hash_kind::siphash ? std::uint32_t{GLOOM_FLAG_SIPHASH} : 0U);
        c.expected_items = expected_items;
        c.fp_rate = fp_rate;
        c.num_blocks = num_blocks;
        c.k = k;
        c.num_shards = num_shards;
        c.seed = seed;
        c.max_bytes = max_bytes;
        c.block_multiple = block_multiple;
        return c;
    }
};

// What a loaded filter shall be like.
struct load_options {
    gloom::kind kind = gloom::kind::atomic;
    std::uint32_t num_shards = 0; // sharded only; 0: the library chooses
    std::uint64_t max_bytes = 0;  // of the blocks; 0: no limit
    bool small_pages = false;     // no huge pages
    bool special_files = false;   // load also from FIFOs and devices, and wait for whoever writes to them

    [[nodiscard]] gloom_load_options to_c() const noexcept {
        gloom_load_options c = GLOOM_LOAD_OPTIONS_INIT;
        c.kind = static_cast<std::int32_t>(kind);
        c.flags = (small_pages ? std::uint32_t{GLOOM_FLAG_SMALL_PAGES} : 0U) |
                  (special_files ? std::uint32_t{GLOOM_FLAG_SPECIAL_FILES} : 0U);
        c.num_shards = num_shards;
        c.max_bytes = max_bytes;
        return c;
    }
};

// How a file is mapped.
struct map_options {
    bool read_write = false;     // otherwise adds end in errc::read_only
    bool verify = false;         // read all of it and check its checksum
    bool allow_dirty = false;    // also if adds may have been lost, because the system failed
    std::uint64_t max_bytes = 0; // of the blocks; 0: no limit

    [[nodiscard]] gloom_map_options to_c() const noexcept {
        gloom_map_options c = GLOOM_MAP_OPTIONS_INIT;
        c.flags = (read_write ? std::uint32_t{GLOOM_MAP_READ_WRITE} : 0U) |
                  (verify ? std::uint32_t{GLOOM_MAP_VERIFY} : 0U) |
                  (allow_dirty ? std::uint32_t{GLOOM_MAP_ALLOW_DIRTY} : 0U);
        c.max_bytes = max_bytes;
        return c;
    }
};

// What a filter will be like.
struct sizing {
    std::uint64_t num_blocks = 0;
    std::uint64_t bytes = 0; // of the blocks
    std::uint32_t k = 0;
    double fp_rate = 0; // predicted with all expected keys in; at most what was asked for
    double bits_per_item = 0;
};

// What the header of a file tells.
struct file_info {
    gloom::format format = gloom::format::native;
    std::uint32_t k = 0;
    std::uint64_t num_blocks = 0;
    std::uint64_t seed = 0;
    std::uint64_t count = 0; // if dirty, that of the time when it was last clean
    std::uint64_t bytes = 0;
    std::uint64_t expected_items = 0;
    double fp_rate = 0;
    bool dirty = false; // mapped for writing, or a writer died
    gloom::hash_kind hash = gloom::hash_kind::xxh3;
};

// The path of a file: const char *, std::string, std::filesystem::path, whatever has a c_str().
class path_view {
public:
    path_view(const char *path) noexcept : path_(path) {}
    template <class Path,
              class = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Path &>().c_str()), const char *>>>
    path_view(const Path &path GLOOM_DETAIL_LIFETIMEBOUND) noexcept : path_(path.c_str()) {}

    [[nodiscard]] const char *c_str() const noexcept { return path_; }

private:
    const char *path_;
};

// -- How it is done -------------------------------------------------------------------------------------------------

namespace detail {

inline outcome<void> finish(gloom_status status) {
#if GLOOM_EXCEPTIONS
    if (status != GLOOM_OK)
        throw error(static_cast<errc>(status));
#else
    return status == GLOOM_OK ? outcome<void>() : outcome<void>(error(static_cast<errc>(status)));
#endif
}

inline outcome<void> finish(gloom_status status, const gloom_error &why) {
#if GLOOM_EXCEPTIONS
    if (status != GLOOM_OK)
        throw error(static_cast<errc>(status), why.message, why.os_error);
#else
    return status == GLOOM_OK ? outcome<void>() : outcome<void>(error(why));
#endif
}

// make() gives the value and is only called if there is one.
template <class Make>
outcome<std::invoke_result_t<Make>> finish(gloom_status status, const gloom_error &why, Make make) {
#if GLOOM_EXCEPTIONS
    finish(status, why);
#else
    if (status != GLOOM_OK)
        return error(why);
#endif
    return make();
}

// Runs a callback that may throw where nothing may unwind, and throws again later what it threw. With results, one that
// throws all the same (GLOOM_NO_EXCEPTIONS where the compiler has exceptions) ends the process: run is noexcept.
class guard {
public:
    template <class Body> std::int64_t run(Body body) noexcept {
#if GLOOM_EXCEPTIONS
        try {
            return body();
        } catch (...) {
            thrown_ = std::current_exception();
            return -1;
        }
#else
        return body();
#endif
    }

    void rethrow() {
#if GLOOM_EXCEPTIONS
        if (thrown_)
            std::rethrow_exception(std::move(thrown_));
#endif
    }

private:
#if GLOOM_EXCEPTIONS
    std::exception_ptr thrown_;
#endif
};

template <class F> struct callback {
    F *function;
    guard panic;
};

// As many keys are handed over at once if they do not lie in one piece.
inline constexpr std::size_t batch_size = 256;

// Can an iterator come by any key? Those of C++17 say so by their category, others by the rules of C++20.
template <class Iterator, class = void>
inline constexpr bool is_random_access =
#if defined(__cpp_lib_concepts)
    std::random_access_iterator<Iterator>;
#else
    false;
#endif
template <class Iterator>
inline constexpr bool
    is_random_access<Iterator, std::void_t<typename std::iterator_traits<Iterator>::iterator_category>> =
        std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<Iterator>::iterator_category>;

template <class Iterator> using reference_of = decltype(*std::declval<Iterator &>());

// What an iterator gives, without the reference; what it stands for, where that is another type (vector<bool>).
template <class Iterator> using element_at = std::remove_cv_t<std::remove_reference_t<reference_of<Iterator>>>;
template <class Iterator, class = void> struct value_at {
    using type = element_at<Iterator>;
};
template <class Iterator>
struct value_at<Iterator, std::void_t<typename std::iterator_traits<Iterator>::value_type>> {
    using type = typename std::iterator_traits<Iterator>::value_type;
};

// Do the keys stay where they are when the iterator moves on? By their category forward iterators' should, too; but some
// that say they are have the key within (boost::token_iterator), and where it cannot be told, a key could be lost.
template <class Iterator>
inline constexpr bool keys_stay = !std::is_same_v<element_at<Iterator>, hash> && is_random_access<Iterator> &&
                                  std::is_lvalue_reference_v<reference_of<Iterator>>;

template <class T> constexpr void require_key() noexcept {
    static_assert(std::is_convertible_v<const T &, bytes_view> || std::is_same_v<T, hash>,
                  "the elements are no keys: for integers and other values there are add_values and test_values; one key "
                  "is no range of keys");
}

} // namespace detail

// -- The filter -----------------------------------------------------------------------------------------------------

class filter {
public:
    // An empty one, as after a move: tests answer true ("maybe"), writes end in errc::null.
    filter() noexcept = default;
    // Takes over a filter of the C API.
    explicit filter(gloom_filter *handle) noexcept : handle_(handle) {}

    // -- making one --

    // For one writer at a time.
    [[nodiscard]] static outcome<filter> plain(std::uint64_t expected_items, double fp_rate) {
        options o;
        o.kind = gloom::kind::plain;
        o.expected_items = expected_items;
        o.fp_rate = fp_rate;
        return create(o);
    }
    // For any number of writers, lock-free.
    [[nodiscard]] static outcome<filter> atomic(std::uint64_t expected_items, double fp_rate) {
        options o;
        o.expected_items = expected_items;
        o.fp_rate = fp_rate;
        return create(o);
    }
    // For any number of writers; the fastest adds by many threads. num_shards: 0, or a power of two up to 65536 and the
    // number of blocks.
    [[nodiscard]] static outcome<filter> sharded(std::uint64_t expected_items, double fp_rate,
                                                 std::uint32_t num_shards = 0) {
        options o;
        o.kind = gloom::kind::sharded;
        o.expected_items = expected_items;
        o.fp_rate = fp_rate;
        o.num_shards = num_shards;
        return create(o);
    }
    [[nodiscard]] static outcome<filter> create(const options &wanted) {
        const gloom_options c = wanted.to_c();
        return make([&](gloom_filter **out, gloom_error *why) { return gloom_create(&c, out, why); });
    }

    // -- one key --

    outcome<void> add(bytes_view key) { return add(key.data(), key.size()); }
    outcome<void> add(const void *key, std::size_t size) { return detail::finish(gloom_add(get(), key, size)); }
    // By its hash, which must have been made with the filter's seed.
    outcome<void> add(const gloom::hash &key) { return detail::finish(gloom_add_hash(get(), key)); }

    // false: certainly not in the set. true: probably.
    [[nodiscard]] bool test(bytes_view key) const noexcept { return test(key.data(), key.size()); }
    [[nodiscard]] bool test(const void *key, std::size_t size) const noexcept { return gloom_test(get(), key, size); }
    [[nodiscard]] bool test(const gloom::hash &key) const noexcept { return gloom_test_hash(get(), key); }

    // test by the name that containers have for it.
    [[nodiscard]] bool contains(bytes_view key) const noexcept { return test(key); }
    [[nodiscard]] bool contains(const gloom::hash &key) const noexcept { return test(key); }

    // Adds a key and tells what test would have said before.
    outcome<bool> test_and_add(bytes_view key) { return test_and_add(key.data(), key.size()); }
    outcome<bool> test_and_add(const void *key, std::size_t size) {
        bool was_present = true;
        const gloom_status status = gloom_test_and_add(get(), key, size, &was_present);
#if GLOOM_EXCEPTIONS
        detail::finish(status);
#else
        if (status != GLOOM_OK)
            return gloom::error(static_cast<errc>(status));
#endif
        return was_present;
    }

    // Hashes a key for this filter and others of its hash and seed.
    [[nodiscard]] gloom::hash hash_of(bytes_view key) const noexcept { return hasher()(key); }

    // -- many keys: up to twice as fast as one by one --

    // Adds a range of keys, which are strings, string_views, vectors or arrays of bytes, or hashes. Any range will do,
    // also one that is not constant, whose iterators cannot be copied, whose end is of another type. If an iterator
    // throws, or a key is a null C string, the keys before may have been added.
    template <class Range> outcome<void> add_all(Range &&keys) { return add_all(std::begin(keys), std::end(keys)); }
    template <class Iterator, class End> outcome<void> add_all(Iterator first, End last) {
        return add_chunks(keys_at(std::move(first), std::move(last)));
    }

    // Adds a range of values, each of which is a key as by key_of: of integers, mostly.
    template <class Range> outcome<void> add_values(Range &&values) {
        if constexpr (std::is_void_v<detail::elements_of<Range>>) {
            return add_values(std::begin(values), std::end(values));
        } else {
            using value = detail::elements_of<Range>;
            detail::require_value<value>();
            return detail::finish(gloom_add_batch_fixed(get(), std::data(values), sizeof(value), std::size(values)));
        }
    }
    template <class Iterator, class End> outcome<void> add_values(Iterator first, End last) {
        return add_chunks(values_at(std::move(first), std::move(last)));
    }

    // Adds n keys that lie in one piece, as in Arrow's binary arrays: key i reaches from offsets[i] to offsets[i + 1].
    outcome<void> add_offsets(bytes_view data, const std::int32_t *offsets, std::size_t n) {
        return detail::finish(gloom_add_batch_offsets32(get(), data.data(), data.size(), offsets, n));
    }
    outcome<void> add_offsets(bytes_view data, const std::int64_t *offsets, std::size_t n) {
        return detail::finish(gloom_add_batch_offsets64(get(), data.data(), data.size(), offsets, n));
    }

    // Tests a range of keys and writes a 0 or 1 for each to results, an output iterator or a pointer to std::uint8_t.
    // Returns how many ones.
    template <class Range, class Results> std::size_t test_all(Range &&keys, Results results) const {
        return test_all(std::begin(keys), std::end(keys), std::move(results));
    }
    template <class Iterator, class End, class Results>
    std::size_t test_all(Iterator first, End last, Results results) const {
        return test_chunks(keys_at(std::move(first), std::move(last)), std::move(results));
    }
    template <class Range> [[nodiscard]] std::vector<std::uint8_t> test_all(Range &&keys) const {
        std::vector<std::uint8_t> results;
        test_all(keys, std::back_inserter(results));
        return results;
    }

    // Tests a range of values, each of which is a key as by key_of.
    template <class Range, class Results> std::size_t test_values(Range &&values, Results results) const {
        if constexpr (std::is_void_v<detail::elements_of<Range>> || !std::is_same_v<Results, std::uint8_t *>) {
            return test_values(std::begin(values), std::end(values), std::move(results));
        } else {
            using value = detail::elements_of<Range>;
            detail::require_value<value>();
            std::size_t hits = std::size(values);
            static_cast<void>(
                gloom_test_batch_fixed(get(), std::data(values), sizeof(value), std::size(values), results, &hits));
            return hits;
        }
    }
    template <class Iterator, class End, class Results>
    std::size_t test_values(Iterator first, End last, Results results) const {
        return test_chunks(values_at(std::move(first), std::move(last)), std::move(results));
    }
    template <class Range> [[nodiscard]] std::vector<std::uint8_t> test_values(Range &&values) const {
        std::vector<std::uint8_t> results;
        if constexpr (std::is_void_v<detail::elements_of<Range>>) {
            test_values(values, std::back_inserter(results));
        } else {
            results.resize(std::size(values));
            test_values(values, results.data());
        }
        return results;
    }

    // Tests keys that lie as for add_offsets; results has room for n, or is NULL. Returns how many are probably there.
    // Offsets out of order or range answer "maybe" for all.
    std::size_t test_offsets(bytes_view data, const std::int32_t *offsets, std::size_t n,
                             std::uint8_t *results) const noexcept {
        std::size_t hits = n;
        static_cast<void>(gloom_test_batch_offsets32(get(), data.data(), data.size(), offsets, n, results, &hits));
        return hits;
    }
    std::size_t test_offsets(bytes_view data, const std::int64_t *offsets, std::size_t n,
                             std::uint8_t *results) const noexcept {
        std::size_t hits = n;
        static_cast<void>(gloom_test_batch_offsets64(get(), data.data(), data.size(), offsets, n, results, &hits));
        return hits;
    }

    // -- facts --

    [[nodiscard]] gloom::kind kind() const noexcept { return static_cast<gloom::kind>(gloom_kind_of(get())); }
    [[nodiscard]] std::uint64_t num_blocks() const noexcept { return gloom_num_blocks(get()); }
    [[nodiscard]] std::uint32_t k() const noexcept { return gloom_k(get()); }
    [[nodiscard]] std::uint32_t num_shards() const noexcept { return gloom_num_shards(get()); }
    [[nodiscard]] gloom::hash_kind hash_kind() const noexcept {
        return static_cast<gloom::hash_kind>(gloom_hash_kind(get()));
    }
    [[nodiscard]] std::uint64_t seed() const noexcept { return gloom_seed(get()); }
    [[nodiscard]] std::uint64_t expected_items() const noexcept { return gloom_expected_items(get()); }
    [[nodiscard]] double fp_rate() const noexcept { return gloom_fp_rate(get()); }
    [[nodiscard]] bool is_mapped() const noexcept { return gloom_is_mapped(get()); }
    [[nodiscard]] bool is_read_only() const noexcept { return gloom_is_read_only(get()); }
    [[nodiscard]] std::uint64_t bit_capacity() const noexcept { return gloom_bit_capacity(get()); }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return gloom_memory_bytes(get()); }
    [[nodiscard]] const char *simd_level() const noexcept { return gloom_simd_level(get()); }
    // All blocks. While others add, read them with relaxed atomic 64-bit loads.
    [[nodiscard]] bytes_view blocks() const noexcept {
        return {gloom_blocks(get()), static_cast<std::size_t>(num_blocks()) * 64};
    }

    // -- figures --

    // Adds, of new keys or old.
    [[nodiscard]] std::uint64_t count() const noexcept { return gloom_count(get()); }
    // Distinct keys, estimated from the bits; nothing if all bits are set or the filter is empty.
    [[nodiscard]] std::optional<std::uint64_t> estimate_items() const noexcept {
        const std::uint64_t items = gloom_estimate_items(get());
        return items == UINT64_MAX ? std::nullopt : std::optional(items);
    }
    [[nodiscard]] double fill_ratio() const noexcept { return gloom_fill_ratio(get()); }
    // From the bits that are set now.
    [[nodiscard]] double current_fp_rate() const noexcept { return gloom_current_fp_rate(get()); }
    // From the geometry, with so many distinct keys in.
    [[nodiscard]] double predict_fp_rate(std::uint64_t items) const noexcept {
        return gloom_predict_fp_rate(num_blocks(), k(), items);
    }

    // -- whole filters --

    // Adds all keys of another filter with the same blocks, k and seed. Others may write both meanwhile.
    outcome<void> merge(const filter &source) {
        return call([&](gloom_error *why) { return gloom_merge(get(), source.get(), why); });
    }
    outcome<void> merge_serialized(bytes_view data) {
        return call([&](gloom_error *why) { return gloom_merge_serialized(get(), data.data(), data.size(), why); });
    }
    // Keeps what the other filter has, too. Nobody else may write this one meanwhile.
    outcome<void> intersect(const filter &source) {
        return call([&](gloom_error *why) { return gloom_intersect(get(), source.get(), why); });
    }
    // Removes all keys. Nobody else may write meanwhile.
    outcome<void> clear() { return detail::finish(gloom_clear(get())); }
    // The same keys in factor times fewer blocks.
    [[nodiscard]] outcome<filter> fold(std::uint64_t factor) const {
        return make([&](gloom_filter **out, gloom_error *why) { return gloom_fold(get(), factor, out, why); });
    }
    // A copy costs as much memory again, so it has a name.
    [[nodiscard]] outcome<filter> clone() const {
        return make([&](gloom_filter **out, gloom_error *why) { return gloom_clone(get(), out, why); });
    }
    // The same blocks, k, seed and bits? An empty filter equals none.
    [[nodiscard]] friend bool operator==(const filter &a, const filter &b) noexcept {
        return gloom_equal(a.get(), b.get());
    }
    [[nodiscard]] friend bool operator!=(const filter &a, const filter &b) noexcept { return !(a == b); }

    // -- bytes --

    [[nodiscard]] outcome<std::uint64_t> serialized_size(gloom::format as = gloom::format::native) const {
        std::uint64_t size = 0;
        gloom_error why;
        const gloom_status status = gloom_serialized_size(get(), static_cast<std::int32_t>(as), &size, &why);
        return detail::finish(status, why, [&] { return size; });
    }

    // Into a container of bytes of your choice: serialize<std::string>().
    template <class Bytes = std::vector<std::byte>>
    [[nodiscard]] outcome<Bytes> serialize(gloom::format as = gloom::format::native) const {
        static_assert(detail::is_byte<typename Bytes::value_type>, "a container of bytes is wanted");
        std::uint64_t size = 0;
        gloom_error why;
        gloom_status status = gloom_serialized_size(get(), static_cast<std::int32_t>(as), &size, &why);
        Bytes bytes;
        if (status == GLOOM_OK) {
            bytes.resize(static_cast<typename Bytes::size_type>(size));
            status = gloom_serialize(get(), static_cast<std::int32_t>(as), bytes.data(), bytes.size(), nullptr, &why);
        }
        return detail::finish(status, why, [&]() -> Bytes { return std::move(bytes); });
    }

    // Into a buffer of at least serialized_size bytes. Returns how many were written.
    outcome<std::size_t> serialize_to(void *buffer, std::size_t size, gloom::format as = gloom::format::native) const {
        std::size_t written = 0;
        gloom_error why;
        const gloom_status status =
            gloom_serialize(get(), static_cast<std::int32_t>(as), buffer, size, &written, &why);
        return detail::finish(status, why, [&] { return written; });
    }

    [[nodiscard]] static outcome<filter> deserialize(bytes_view data, const load_options &wanted = {}) {
        const gloom_load_options c = wanted.to_c();
        return make([&](gloom_filter **out, gloom_error *why) {
            return gloom_deserialize(data.data(), data.size(), &c, out, why);
        });
    }

    // -- streams --

    // Writes to a std::ostream (opened as binary). errc::io if the stream is bad afterwards.
    outcome<void> write(std::ostream &to, gloom::format as = gloom::format::native) const {
        return write_to(
            [&to](bytes_view piece) {
                to.write(reinterpret_cast<const char *>(piece.data()), static_cast<std::streamsize>(piece.size()));
                return to.good() ? 0 : EIO;
            },
            as);
    }
    // Reads from a std::istream (opened as binary) the bytes of one filter and no more. errc::io if the stream fails,
    // or had failed before (a file that could not be opened); errc::corrupt if it ends too early.
    [[nodiscard]] static outcome<filter> read(std::istream &from, const load_options &wanted = {}) {
        return read_from(
            [&from](void *data, std::size_t size) {
                from.read(static_cast<char *>(data), static_cast<std::streamsize>(size));
                const bool failed = from.bad() || (from.fail() && !from.eof()); // fail() alone is true at the end, too
                return failed ? -std::int64_t{EIO} : static_cast<std::int64_t>(from.gcount());
            },
            wanted);
    }

    // Calls sink(bytes_view) piece by piece. It returns an int: 0 to go on, -1 to stop (errc::cancelled), or an errno
    // (errc::io). But 1, which is EPERM and also `true`, stops as -1 does: gloom.h cannot tell them apart. Return
    // EACCES or EIO instead. What it throws comes through; with results, it ends the process.
    template <class Sink> outcome<void> write_to(Sink &&sink, gloom::format as = gloom::format::native) const {
        using sink_type = std::remove_reference_t<Sink>;
        detail::callback<sink_type> context{std::addressof(sink), {}};
        const gloom_write_fn sink_of = [](void *at, const void *data, std::size_t size) -> std::int64_t {
            auto &to = *static_cast<detail::callback<sink_type> *>(at);
            return to.panic.run([&] {
                const std::int64_t code = (*to.function)(bytes_view(data, size));
                return code == 0 ? static_cast<std::int64_t>(size) : code < 0 ? code : -code;
            });
        };
        gloom_error why;
        const gloom_status status = gloom_write(get(), static_cast<std::int32_t>(as), sink_of, &context, &why);
        context.panic.rethrow();
        return detail::finish(status, why);
    }
    // Calls source(void *data, std::size_t size) piece by piece. It puts up to size bytes at data and returns how many;
    // 0 at the end, -1 to stop (errc::cancelled), or a negative errno (errc::io), but for -EPERM, which is -1. What it
    // throws comes through; with results, it ends the process.
    template <class Source>
    [[nodiscard]] static outcome<filter> read_from(Source &&source, const load_options &wanted = {}) {
        using source_type = std::remove_reference_t<Source>;
        detail::callback<source_type> context{std::addressof(source), {}};
        const gloom_read_fn source_of = [](void *at, void *data, std::size_t size) -> std::int64_t {
            auto &from = *static_cast<detail::callback<source_type> *>(at);
            return from.panic.run([&] { return static_cast<std::int64_t>((*from.function)(data, size)); });
        };
        const gloom_load_options c = wanted.to_c();
        gloom_filter *out = nullptr;
        gloom_error why;
        const gloom_status status = gloom_read(source_of, &context, &c, &out, &why);
        context.panic.rethrow();
        return detail::finish(status, why, [&] { return filter(out); });
    }

    // -- files --

    // The file appears whole or not at all, and is on the disk afterwards.
    outcome<void> save(path_view path, gloom::format as = gloom::format::native) const {
        return call([&](gloom_error *why) {
            return gloom_save(get(), path.c_str(), static_cast<std::int32_t>(as), why);
        });
    }
    // What is no regular file is errc::io (ENODEV), without waiting, unless wanted.special_files.
    [[nodiscard]] static outcome<filter> load(path_view path, const load_options &wanted = {}) {
        const gloom_load_options c = wanted.to_c();
        return make([&](gloom_filter **out, gloom_error *why) { return gloom_load(path.c_str(), &c, out, why); });
    }
    // Uses a native file where it is; processes that map it share its memory.
    [[nodiscard]] static outcome<filter> map(path_view path, const map_options &wanted = {}) {
        const gloom_map_options c = wanted.to_c();
        return make([&](gloom_filter **out, gloom_error *why) {
            return gloom_map_with_options(path.c_str(), &c, out, why);
        });
    }
    // Makes the file, too. It must not exist.
    [[nodiscard]] static outcome<filter> map_create(path_view path, const options &wanted) {
        const gloom_options c = wanted.to_c();
        return make([&](gloom_filter **out, gloom_error *why) {
            return gloom_map_create(path.c_str(), &c, out, why);
        });
    }
    // Should a mapped filter be mapped again, because its file was replaced or removed? See gloom.h.
    [[nodiscard]] bool is_stale() const noexcept { return gloom_is_stale(get()); }
    // Waits until all adds to a mapped filter are on the disk. Once it has failed with errc::io it always does: see gloom.h.
    outcome<void> sync() {
        return call([&](gloom_error *why) { return gloom_sync(get(), why); });
    }

    // -- the handle --

    // Is there a filter, or is this one empty?
    [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
    // For the C API; still owned by this object.
    [[nodiscard]] gloom_filter *get() noexcept { return handle_.get(); }
    [[nodiscard]] const gloom_filter *get() const noexcept { return handle_.get(); }
    // For the C API; the caller frees it, with gloom_free.
    [[nodiscard]] gloom_filter *release() noexcept { return handle_.release(); }
    void swap(filter &other) noexcept { handle_.swap(other.handle_); }
    friend void swap(filter &a, filter &b) noexcept { a.swap(b); }

private:
    struct free_it {
        void operator()(gloom_filter *handle) const noexcept { gloom_free(handle); }
    };

    template <class Make> static outcome<filter> make(Make make_it) {
        gloom_filter *out = nullptr;
        gloom_error why;
        const gloom_status status = make_it(&out, &why);
        return detail::finish(status, why, [&] { return filter(out); });
    }
    template <class Call> static outcome<void> call(Call call_it) {
        gloom_error why;
        const gloom_status status = call_it(&why);
        return detail::finish(status, why);
    }

    // How this filter hashes keys.
    struct hash_function {
        bool is_siphash;
        std::uint64_t seed;

        gloom::hash operator()(bytes_view key) const noexcept {
            return is_siphash ? siphash_of(key, seed) : gloom::hash_of(key, seed);
        }
    };
    [[nodiscard]] hash_function hasher() const noexcept {
        return {hash_kind() == gloom::hash_kind::siphash, seed()};
    }

    // A chunk of keys, filled from two iterators, which can be added and tested. Keys that stay where they are are
    // handed over by address; others (an iterator's own buffer, a string made on the fly) are hashed while they exist.
    // (stays is a parameter because units of C++17 and C++20, which may differ about it, shall not share the class.)
    template <class Iterator, class End, bool stays> class key_chunks {
        using element = detail::element_at<Iterator>;
        static constexpr bool is_hash = std::is_same_v<element, gloom::hash>;

    public:
        key_chunks(Iterator first, End last) : at_(std::move(first)), last_(std::move(last)) {
            detail::require_key<element>();
        }

        std::size_t fill(hash_function hash_it) {
            std::size_t n = 0;
            null_ = false;
            for (; n < detail::batch_size && at_ != last_; ++n, ++at_) {
                if constexpr (is_hash) {
                    hashes_[n] = *at_;
                } else if constexpr (stays) {
                    const bytes_view key(*at_);
                    data_[n] = key.data();
                    sizes_[n] = key.size();
                } else {
                    const auto &element_now = *at_; // prolongs the life of what was made on the fly
                    const bytes_view key(element_now);
                    null_ = null_ || (key.data() == nullptr && key.size() != 0);
                    hashes_[n] = hash_it(key);
                }
            }
            return n;
        }
        gloom_status add(gloom_filter *to, std::size_t n) const noexcept {
            if constexpr (stays)
                return gloom_add_batch_pointers(to, data_.data(), sizes_.data(), n);
            else if (null_)
                return GLOOM_ERR_NULL;
            else
                return gloom_add_batch_hashes(to, hashes_.data(), n);
        }
        void test(const gloom_filter *in, std::size_t n, std::uint8_t *results, std::size_t *hits) const noexcept {
            if constexpr (stays)
                static_cast<void>(gloom_test_batch_pointers(in, data_.data(), sizes_.data(), n, results, hits));
            else if (!null_) // otherwise the answers stay "maybe"
                static_cast<void>(gloom_test_batch_hashes(in, hashes_.data(), n, results, hits));
        }

    private:
        Iterator at_;
        End last_;
        std::array<const void *, stays ? detail::batch_size : 0> data_;
        std::array<std::size_t, stays ? detail::batch_size : 0> sizes_;
        std::array<gloom::hash, stays ? 0 : detail::batch_size> hashes_;
        bool null_ = false; // is a null C string among them? Its hash would not tell.
    };

    // The same for values, which are copied.
    template <class Iterator, class End> class value_chunks {
        using value = typename detail::value_at<Iterator>::type;
        static constexpr std::size_t most = sizeof(value) > 64 ? 16 : detail::batch_size;

    public:
        value_chunks(Iterator first, End last) : at_(std::move(first)), last_(std::move(last)) {
            detail::require_value<value>();
        }

        std::size_t fill(hash_function) {
            std::size_t n = 0;
            for (; n < most && at_ != last_; ++n, ++at_) {
                const value one = *at_;
                std::memcpy(bytes_.data() + n * sizeof(value), std::addressof(one), sizeof(value));
            }
            return n;
        }
        gloom_status add(gloom_filter *to, std::size_t n) const noexcept {
            return gloom_add_batch_fixed(to, bytes_.data(), sizeof(value), n);
        }
        void test(const gloom_filter *in, std::size_t n, std::uint8_t *results, std::size_t *hits) const noexcept {
            static_cast<void>(gloom_test_batch_fixed(in, bytes_.data(), sizeof(value), n, results, hits));
        }

    private:
        Iterator at_;
        End last_;
        std::array<unsigned char, most * sizeof(value)> bytes_;
    };

    template <class Iterator, class End, bool stays = detail::keys_stay<Iterator>>
    static key_chunks<Iterator, End, stays> keys_at(Iterator first, End last) {
        return {std::move(first), std::move(last)};
    }
    template <class Iterator, class End> static value_chunks<Iterator, End> values_at(Iterator first, End last) {
        return {std::move(first), std::move(last)};
    }

    template <class Chunks> outcome<void> add_chunks(Chunks chunks) {
        const hash_function hash_it = hasher();
        gloom_status status = GLOOM_OK;
        // Also without keys: an empty filter is a mistake all the same.
        do {
            const std::size_t n = chunks.fill(hash_it);
            status = chunks.add(get(), n);
            if (n == 0)
                break;
        } while (status == GLOOM_OK);
        return detail::finish(status);
    }
    template <class Chunks, class Results> std::size_t test_chunks(Chunks chunks, Results results) const {
        const hash_function hash_it = hasher();
        std::array<std::uint8_t, detail::batch_size> answers;
        std::size_t all_hits = 0;
        while (const std::size_t n = chunks.fill(hash_it)) {
            std::size_t hits = n;
            answers.fill(1);
            chunks.test(get(), n, answers.data(), &hits);
            for (std::size_t i = 0; i < n; ++i, ++results)
                *results = answers[i];
            all_hits += hits;
        }
        return all_hits;
    }

    std::unique_ptr<gloom_filter, free_it> handle_;
};

// -- Without a filter -----------------------------------------------------------------------------------------------

// What a filter will be like: before memory is taken.
[[nodiscard]] inline outcome<sizing> size_for(std::uint64_t expected_items, double fp_rate) {
    gloom_sizing c = GLOOM_SIZING_INIT;
    gloom_error why;
    const gloom_status status = gloom_size_for(expected_items, fp_rate, &c, &why);
    return detail::finish(status, why,
                          [&] { return sizing{c.num_blocks, c.bytes, c.k, c.fp_rate, c.bits_per_item}; });
}

// The rate to expect of a geometry with so many distinct keys; 1 if there is no such geometry.
[[nodiscard]] inline double predict_fp_rate(std::uint64_t num_blocks, std::uint32_t k, std::uint64_t items) noexcept {
    return gloom_predict_fp_rate(num_blocks, k, items);
}

// What the header of a file tells, without reading the rest.
[[nodiscard]] inline outcome<file_info> inspect(path_view path) {
    gloom_file_info c = GLOOM_FILE_INFO_INIT;
    gloom_error why;
    const gloom_status status = gloom_inspect(path.c_str(), &c, &why);
    return detail::finish(status, why, [&] {
        return file_info{static_cast<format>(c.format), c.k,          c.num_blocks, c.seed, c.count, c.bytes,
                         c.expected_items,              c.fp_rate, c.dirty != 0, static_cast<hash_kind>(c.hash)};
    });
}

// The version of the library; GLOOM_VERSION is that of the header.
[[nodiscard]] inline std::uint32_t version() noexcept { return gloom_version(); }
[[nodiscard]] inline const char *version_string() noexcept { return gloom_version_string(); }
// Do header and library belong together? For programs that come to their library at run time.
[[nodiscard]] inline bool abi_matches() noexcept { return gloom_abi_version() == GLOOM_ABI_VERSION; }

} // namespace GLOOM_DETAIL_NAMESPACE
} // namespace gloom

template <> struct std::is_error_code_enum<gloom::errc> : std::true_type {};

#undef GLOOM_DETAIL_LIFETIMEBOUND

#endif // GLOOM_GLOOM_HPP
