// Which lines of stdin are certainly not in a list of keys?
//
//   check LIST <lines        prints the lines that are not in the file LIST; "maybe" stays silent
#include <fstream>
#include <gloom/gloom.hpp>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char **argv) try {
    std::ifstream list(argc == 2 ? argv[1] : "");
    if (!list) {
        std::cerr << "usage: check LIST <lines\n";
        return 2;
    }
    std::vector<std::string> keys;
    for (std::string line; std::getline(list, line);)
        keys.push_back(line);

    auto filter = gloom::filter::plain(keys.size(), 0.001); // one thread
    filter.add_all(keys);

    for (std::string line; std::getline(std::cin, line);)
        if (!filter.test(line))
            std::cout << line << '\n';
} catch (const gloom::error &error) {
    std::cerr << "check: " << error.what() << '\n';
    return 1;
}
