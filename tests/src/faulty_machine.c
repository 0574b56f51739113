/* Faults of the machine that a proxy runs on: its disk fails. Loaded by LD_PRELOAD.
   The file that MACHINE_FAULTS names has the faults, as tcp_proxy.rs writes them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct faults {
    int64_t write_error;
    int64_t sync_error;
    int64_t read_error;
};

static volatile struct faults *faults;

__attribute__((constructor)) static void load(void) {
    const char *path = getenv("MACHINE_FAULTS");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) {
        return;
    }
    void *found = mmap(NULL, sizeof *faults, PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) {
        faults = found;
    }
    close(file);
}

/* Pipes and sockets have no disk. */
static int fails(int file, int64_t error) {
    struct stat found;
    if (error == 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) {
        return 0;
    }
    errno = (int)error;
    return 1;
}

#define TRANSFERRING(name, error, parameters, ...)                      \
    ssize_t name parameters {                                           \
        ssize_t (*next) parameters = dlsym(RTLD_NEXT, #name);           \
        return faults && fails(file, faults->error) ? -1 : next(__VA_ARGS__); \
    }

TRANSFERRING(write, write_error, (int file, const void *bytes, size_t count), file, bytes, count)
TRANSFERRING(pwrite, write_error, (int file, const void *bytes, size_t count, off_t place), file, bytes, count, place)
TRANSFERRING(pwrite64, write_error, (int file, const void *bytes, size_t count, off64_t place), file, bytes, count, place)
TRANSFERRING(pread, read_error, (int file, void *bytes, size_t count, off_t place), file, bytes, count, place)
TRANSFERRING(pread64, read_error, (int file, void *bytes, size_t count, off64_t place), file, bytes, count, place)

#define SYNCING(name)                                                   \
    int name(int file) {                                                \
        int (*next)(int) = dlsym(RTLD_NEXT, #name);                     \
        return faults && fails(file, faults->sync_error) ? -1 : next(file); \
    }

SYNCING(fsync)
SYNCING(fdatasync)
