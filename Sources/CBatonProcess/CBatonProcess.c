// _GNU_SOURCE declares pipe2, closefrom and the change of directory in posix_spawn.
#define _GNU_SOURCE

#include "CBatonProcess.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#include <crt_externs.h>
#include <sys/event.h>
#else
#include <sys/syscall.h>
extern char **environ;
#endif

#if !defined(__APPLE__) || TARGET_OS_OSX
#define BATON_CAN_SPAWN 1
#include <spawn.h>
#endif

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)
#define BATON_CAN_CLOSE_FROM 1
#endif
#endif

#if defined(__linux__) && !defined(SYS_pidfd_open)
#define SYS_pidfd_open 434
#endif

const int baton_sigterm = SIGTERM, baton_sigkill = SIGKILL, baton_sigcont = SIGCONT, baton_sigpipe = SIGPIPE;
const int baton_EAGAIN = EAGAIN, baton_ESRCH = ESRCH, baton_ENOENT = ENOENT, baton_ENOTDIR = ENOTDIR,
          baton_EISDIR = EISDIR, baton_EACCES = EACCES, baton_ENOEXEC = ENOEXEC, baton_E2BIG = E2BIG,
          baton_ETXTBSY = ETXTBSY, baton_EMFILE = EMFILE, baton_ENFILE = ENFILE;
const short baton_readable = POLLIN, baton_writable = POLLOUT;

// MARK: Programs

#if BATON_CAN_SPAWN
static int spawn_with(
    posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, pid_t *pid, const char *path,
    char *const *arguments, char *const *environment, const char *directory, const int *descriptors) {
    sigset_t all, none;
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    sigemptyset(&none);
    short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
#if defined(POSIX_SPAWN_CLOEXEC_DEFAULT)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    int error = posix_spawnattr_setflags(attributes, flags);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &all);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    for (int number = 0; number < 3 && !error; number++)
        error = posix_spawn_file_actions_adddup2(actions, descriptors[number], number);
#if BATON_CAN_CLOSE_FROM
    // This includes descriptors that other code has opened without close-on-exec.
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
    if (!error && directory) error = posix_spawn_file_actions_addchdir_np(actions, directory);
    return error ? error : posix_spawn(pid, path, actions, attributes, arguments, environment);
}
#endif

int baton_spawn(
    pid_t *pid, const char *path, char *const *arguments, char *const *environment, const char *directory, int input,
    int output, int errors) {
#if BATON_CAN_SPAWN
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        const int descriptors[3] = {input, output, errors};
        error = spawn_with(&actions, &attributes, pid, path, arguments, environment, directory, descriptors);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
#else
    return ENOTSUP;
#endif
}

int baton_exit_descriptor(pid_t pid, int *descriptor) {
#if defined(__APPLE__)
    int queue = kqueue();
    if (queue < 0) return errno;
    struct kevent event;
    EV_SET(&event, pid, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    if (kevent(queue, &event, 1, NULL, 0, NULL) < 0) {
        // The child has ended already, so an event of our own takes the place of its exit.
        EV_SET(&event, 1, EVFILT_USER, EV_ADD, 0, 0, NULL);
        kevent(queue, &event, 1, NULL, 0, NULL);
        EV_SET(&event, 1, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
        kevent(queue, &event, 1, NULL, 0, NULL);
    }
    *descriptor = queue;
#else
    int found = (int)syscall(SYS_pidfd_open, pid, 0);
    if (found < 0) return errno;
    *descriptor = found;
#endif
    return 0;
}

int baton_reap(pid_t pid, int *code, int *is_signal) {
    int status = 0;
    pid_t found;
    do found = waitpid(pid, &status, 0);
    while (found < 0 && errno == EINTR);
    if (found < 0) return errno;
    *is_signal = WIFSIGNALED(status);
    *code = *is_signal ? WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

void baton_signal_group(pid_t group, int signal) { kill(-group, signal); }

char **baton_environment(void) {
#if defined(__APPLE__)
    return *_NSGetEnviron();
#else
    return environ;
#endif
}

// MARK: Files

int baton_check_executable(const char *path) {
    struct stat status;
    if (stat(path, &status)) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

char *baton_working_directory(void) { return getcwd(NULL, 0); }

int baton_check_directory(const char *path) {
    struct stat status;
    if (stat(path, &status)) return errno;
    if (!S_ISDIR(status.st_mode)) return ENOTDIR;
    return access(path, X_OK) ? errno : 0;
}

int baton_examine(const char *path, struct baton_file *file) {
    struct stat status;
    file->kind = baton_file_missing;
    if (stat(path, &status)) return errno == ENOENT ? 0 : errno;
    file->mode = status.st_mode & 07777;
    file->owner = status.st_uid;
    file->group = status.st_gid;
    file->kind = S_ISREG(status.st_mode)   ? baton_file_regular
                 : S_ISDIR(status.st_mode) ? baton_file_directory
                                           : baton_file_other;
    return 0;
}

char *baton_resolve(const char *path) { return realpath(path, NULL); }

char *baton_link_target(const char *path) {
    char target[4096];
    ssize_t length = readlink(path, target, sizeof target);
    // A target that fills the buffer may have been truncated.
    return length < 0 || (size_t)length == sizeof target ? NULL : strndup(target, (size_t)length);
}

void baton_free(char *text) { free(text); }

/// Moves a descriptor to a number of 3 or more. Some programs close 0, 1 and 2, and a descriptor that then gets one of
/// these numbers would be overwritten in the child.
static int keep(int found, int *descriptor) {
    if (found < 0) return errno;
    if (found < 3) {
        int raised = fcntl(found, F_DUPFD_CLOEXEC, 3), error = errno;
        close(found);
        if (raised < 0) return error;
        found = raised;
    }
    *descriptor = found;
    return 0;
}

static int open_nonblocking(const char *path, int flags, unsigned mode, int *descriptor) {
    int found;
    do found = open(path, flags | O_CLOEXEC | O_NONBLOCK, mode);
    while (found < 0 && errno == EINTR);
    int error = keep(found, descriptor);
    // Only opening must not block: the program that gets the descriptor may.
    if (!error) fcntl(*descriptor, F_SETFL, fcntl(*descriptor, F_GETFL) & ~O_NONBLOCK);
    return error;
}

int baton_open_reading(const char *path, int *descriptor) { return open_nonblocking(path, O_RDONLY, 0, descriptor); }

int baton_open_writing(const char *path, int is_appending, int *descriptor) {
    return open_nonblocking(path, O_WRONLY | O_CREAT | (is_appending ? O_APPEND : 0), 0666, descriptor);
}

int baton_make_file(const char *path, unsigned mode, int *descriptor) {
    return open_nonblocking(path, O_WRONLY | O_CREAT | O_EXCL, mode, descriptor);
}

int baton_copy_permissions(int descriptor, const struct baton_file *file) {
    struct stat status;
    if (fstat(descriptor, &status)) return errno;
    unsigned mode = file->mode;
    if (status.st_uid != file->owner && fchown(descriptor, file->owner, -1)) mode &= ~S_ISUID;
    if (status.st_gid != file->group && fchown(descriptor, -1, file->group)) mode &= ~(S_ISGID | S_IRWXG);
    return fchmod(descriptor, mode) ? errno : 0;
}

int baton_is_same_file(const char *path, const char *other) {
    struct stat one, two;
    if (lstat(path, &one) || lstat(other, &two)) return 0;
    return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

int baton_rename(const char *from, const char *to) { return rename(from, to) ? errno : 0; }
void baton_remove(const char *path) { unlink(path); }

// MARK: Descriptors

int baton_make_pipe(int *reading, int *writing) {
    int ends[2];
#if defined(__APPLE__)
    if (pipe(ends)) return errno;
    for (int end = 0; end < 2; end++) fcntl(ends[end], F_SETFD, FD_CLOEXEC);
#else
    if (pipe2(ends, O_CLOEXEC)) return errno;
#endif
    int error = keep(ends[0], reading);
    if (error) {
        close(ends[1]);
        return error;
    }
    error = keep(ends[1], writing);
    if (error) close(*reading);
    return error;
}

int baton_duplicate(int descriptor, int *copy) { return keep(fcntl(descriptor, F_DUPFD_CLOEXEC, 3), copy); }

int baton_set_nonblocking(int descriptor) {
#if defined(__APPLE__)
    fcntl(descriptor, F_SETNOSIGPIPE, 1);
#endif
    int flags = fcntl(descriptor, F_GETFL);
    return flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0 ? errno : 0;
}

void baton_close(int descriptor) { close(descriptor); }

ssize_t baton_read(int descriptor, void *bytes, size_t count) {
    ssize_t done;
    do done = read(descriptor, bytes, count);
    while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

static ssize_t write_all_it_takes(int descriptor, const void *bytes, size_t count) {
    ssize_t done;
    do done = write(descriptor, bytes, count);
    while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : done;
}

ssize_t baton_write(int descriptor, const void *bytes, size_t count) {
#if defined(__APPLE__)
    return write_all_it_takes(descriptor, bytes, count);
#else
    // The system sends SIGPIPE to the thread that writes. So it is blocked meanwhile, and removed again if it was not
    // pending before.
    sigset_t broken_pipe, before, pending;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    ssize_t done = write_all_it_takes(descriptor, bytes, count);
    if (done == -EPIPE && !sigismember(&pending, SIGPIPE)) {
        const struct timespec now = {0, 0};
        while (sigtimedwait(&broken_pipe, NULL, &now) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return done;
#endif
}

int baton_has_no_reader(int descriptor) {
    struct pollfd watch = {descriptor, 0, 0};
    int found;
    do found = poll(&watch, 1, 0);
    while (found < 0 && errno == EINTR);
    return found > 0 && (watch.revents & (POLLERR | POLLHUP));
}

int baton_available(int descriptor) {
    int count = 0;
    return ioctl(descriptor, FIONREAD, &count) < 0 ? 0 : count;
}

_Static_assert(sizeof(struct baton_watch) == sizeof(struct pollfd), "the two are one");

int baton_poll(struct baton_watch *watches, size_t count) {
    int found;
    do found = poll((struct pollfd *)watches, (nfds_t)count, -1);
    while (found < 0 && errno == EINTR);
    return found < 0 ? errno : 0;
}

void baton_sleep_milliseconds(int milliseconds) { poll(NULL, 0, milliseconds); }

// MARK: Texts

const char *baton_error_text(int error) { return strerror(error); }

const char *baton_signal_text(int signal) {
    const char *text = strsignal(signal);
    return text ? text : "unknown";
}

ssize_t baton_find_newline(const void *bytes, size_t count) {
    const char *found = count ? memchr(bytes, '\n', count) : NULL;
    return found ? found - (const char *)bytes : -1;
}
