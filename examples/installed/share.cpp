// One filter in a file, in the memory of two processes.
//
//   share FILE        makes FILE, which must not exist; ends with 1 if something is not as it should be
#include <cstdlib>
#include <gloom/gloom.hpp>
#include <iostream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

static void require(bool condition, const char *what) {
    if (!condition)
        throw std::runtime_error(what);
}

// The other process: opens the same file and adds to it.
static int child(const char *path) try {
    gloom::map_options writing;
    writing.read_write = true;
    auto filter = gloom::filter::map(path, writing);
    require(filter.test("from the parent"), "the child does not see the parent's key");
    filter.add("from the child");
    return 0;
} catch (const std::exception &error) {
    std::cerr << "share: " << error.what() << '\n';
    return 1;
}

int main(int argc, char **argv) try {
    require(argc == 2, "usage: share FILE");
    gloom::options options;
    options.expected_items = 100000;
    options.fp_rate = 0.01;
    {
        auto filter = gloom::filter::map_create(argv[1], options);
        filter.add("from the parent");
        require(!filter.test("from the child"), "a key is there before it was added");

        const pid_t pid = fork();
        require(pid >= 0, "no second process");
        if (pid == 0)
            _exit(child(argv[1]));
        int status = 0;
        require(waitpid(pid, &status, 0) == pid && status == 0, "the child failed");
        require(filter.test("from the child"), "the parent does not see the child's key");
        filter.sync();
    }
    const auto info = gloom::inspect(argv[1]);
    require(info.count == 2 && !info.dirty, "the closed file is not clean, or not all adds are counted");
    std::cout << "both processes saw each other's key\n";
} catch (const std::exception &error) {
    std::cerr << "share: " << error.what() << '\n';
    return 1;
}
