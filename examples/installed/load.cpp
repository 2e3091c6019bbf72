// Threads fill one filter while another one asks.
//
//   load [THREADS]        ends with 1 if a key was lost
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <gloom/gloom.hpp>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

int main(int argc, char **argv) try {
    constexpr std::uint64_t keys_a_thread = 200000, batch = 1000;
    const int threads = argc == 2 ? std::atoi(argv[1]) : 4;
    if (threads < 1 || threads > 64) {
        std::cerr << "usage: load [THREADS]\n";
        return 2;
    }
    const std::uint64_t all = static_cast<std::uint64_t>(threads) * keys_a_thread;
    auto filter = gloom::filter::sharded(all, 0.01); // the kind for loading
    std::atomic<std::uint64_t> lost{0}, found{0};
    std::atomic<bool> loading{true};

    std::thread asker([&] {
        for (std::uint64_t key = 0; loading; key++)
            found += filter.test(gloom::key_of(key)); // never waits
    });
    std::vector<std::thread> loaders;
    for (std::uint64_t first = 0; first < all; first += keys_a_thread)
        loaders.emplace_back([&filter, &lost, first] {
            std::vector<std::uint64_t> keys(batch);
            for (std::uint64_t next = first; next < first + keys_a_thread; next += batch) {
                std::iota(keys.begin(), keys.end(), next);
                filter.add_values(keys); // throws only if the filter is empty or read-only
                std::vector<std::uint8_t> there(batch);
                lost += batch - filter.test_values(keys, there.data()); // a key is there once its add has returned
            }
        });
    for (auto &loader : loaders)
        loader.join();
    loading = false;
    asker.join();

    std::cout << filter.count() << " keys by " << threads << " threads, about " << filter.estimate_items().value_or(0)
              << " of them distinct, false-positive rate " << filter.current_fp_rate() << ", " << lost << " lost\n";
    return lost == 0 && filter.count() == all ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << "load: " << error.what() << '\n';
    return 1;
}
