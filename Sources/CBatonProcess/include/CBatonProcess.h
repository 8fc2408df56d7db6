// The system calls of BatonProcess, so that its Swift code is the same on all systems. Functions that can fail return
// an errno, or its negative if they return a number. Descriptors are closed on exec, and are never below 3.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// MARK: Programs

/// Starts a program as the leader of a session, and so of a process group, of its own. The program inherits only
/// `input`, `output` and `errors`, as descriptors 0, 1 and 2. All signals have their default action, and none is
/// blocked. If `directory` is null, the program starts in the directory of this process.
int baton_spawn(
    pid_t *_Nonnull pid, const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nonnull environment, const char *_Nullable directory, int input, int output, int errors);

/// Makes a descriptor that becomes readable when this child exits, or at once if it has already exited. This does not
/// reap the child.
int baton_exit_descriptor(pid_t pid, int *_Nonnull descriptor);

/// Reaps a child that has ended. `code` is its exit status, or the number of a signal if `is_signal` is set.
int baton_reap(pid_t pid, int *_Nonnull code, int *_Nonnull is_signal);

/// Sends a signal to every process of a group. Errors are ignored, for example if the group is empty.
void baton_signal_group(pid_t group, int signal);

extern const int baton_sigterm, baton_sigkill, baton_sigcont, baton_sigpipe;

/// Returns the `environ` array of this process. It is not copied: the caller must not free it, and a concurrent
/// `setenv` may change it.
char *_Nullable *_Nullable baton_environment(void);

// MARK: Files

/// Returns 0 if `path` is an executable file, or else an errno.
int baton_check_executable(const char *_Nonnull path);
/// Returns the directory of this process, or null if it no longer exists. The caller frees it with `baton_free`.
char *_Nullable baton_working_directory(void);
/// Returns 0 if `path` is a directory in which a program can start, or else an errno.
int baton_check_directory(const char *_Nonnull path);

enum baton_file_kind { baton_file_missing, baton_file_regular, baton_file_directory, baton_file_other };
struct baton_file {
    enum baton_file_kind kind;
    /// Set unless the kind is `baton_file_missing`.
    unsigned mode, owner, group;
};
/// Describes the file at a path, following symbolic links.
int baton_examine(const char *_Nonnull path, struct baton_file *_Nonnull file);

/// Returns a new path in which every symbolic link is resolved, or null if that fails, for example because the file
/// does not exist. The caller frees it with `baton_free`.
char *_Nullable baton_resolve(const char *_Nonnull path);
/// Returns the target of a symbolic link, or null if `path` is not a symbolic link. The caller frees it with
/// `baton_free`.
char *_Nullable baton_link_target(const char *_Nonnull path);
void baton_free(char *_Nullable text);

// The functions that open files never block, not even for the other end of a named pipe.

int baton_open_reading(const char *_Nonnull path, int *_Nonnull descriptor);
int baton_open_writing(const char *_Nonnull path, int is_appending, int *_Nonnull descriptor);
/// Creates a file, and fails if it exists. `mode` is subject to the umask, as in `open(2)`.
int baton_make_file(const char *_Nonnull path, unsigned mode, int *_Nonnull descriptor);
/// Gives a new file the owner, the group and exactly the permissions of another file. If the owner cannot be set, the
/// set-user-ID bit is dropped. If the group cannot be set, the set-group-ID bit and all permissions of the group are
/// dropped.
int baton_copy_permissions(int descriptor, const struct baton_file *_Nonnull file);
/// Returns 1 if both paths lead to the same file, and 0 otherwise, also if a path cannot be examined. A symbolic link
/// at the end of a path is not followed.
int baton_is_same_file(const char *_Nonnull path, const char *_Nonnull other);

int baton_rename(const char *_Nonnull from, const char *_Nonnull to);
void baton_remove(const char *_Nonnull path);

// MARK: Descriptors

int baton_make_pipe(int *_Nonnull reading, int *_Nonnull writing);
int baton_duplicate(int descriptor, int *_Nonnull copy);
/// Makes our end of a pipe non-blocking, and keeps it from raising SIGPIPE where the system has a flag for that.
int baton_set_nonblocking(int descriptor);
void baton_close(int descriptor);

/// Returns the number of bytes that were read, which is 0 at the end.
ssize_t baton_read(int descriptor, void *_Nonnull bytes, size_t count);
/// Returns the number of bytes that were written. If nobody reads the pipe, this returns -EPIPE and raises no signal.
ssize_t baton_write(int descriptor, const void *_Nonnull bytes, size_t count);
/// Returns 1 if this is the writing end of a pipe that nobody can read any more, and 0 otherwise, also after an error.
int baton_has_no_reader(int descriptor);
/// Returns the number of bytes that can be read without waiting, which is 0 after an error.
int baton_available(int descriptor);
extern const int baton_EAGAIN, baton_ESRCH, baton_ENOENT, baton_ENOTDIR, baton_EISDIR, baton_EACCES, baton_ENOEXEC,
    baton_E2BIG, baton_ETXTBSY, baton_EMFILE, baton_ENFILE;

/// Has the layout of `struct pollfd`.
struct baton_watch {
    int descriptor;
    short events;
    short revents;
};
extern const short baton_readable, baton_writable;
/// Waits without a time limit until a descriptor is ready. Continues after a signal. Returns 0 or an errno.
int baton_poll(struct baton_watch *_Nonnull watches, size_t count);
/// Suspends the thread for a time, or for less if a signal arrives.
void baton_sleep_milliseconds(int milliseconds);

// MARK: Texts

const char *_Nonnull baton_error_text(int error);
const char *_Nonnull baton_signal_text(int signal);

/// Returns the offset of the first newline, or -1 if there is none.
ssize_t baton_find_newline(const void *_Nonnull bytes, size_t count);
