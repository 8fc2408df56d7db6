// The system calls of BatonProcess, so that its Swift code is the same on all systems. Functions that can fail return
// an errno, or its negative if they return a number. Descriptors are closed on exec, and are never below 3.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// MARK: Programs

/// Starts a program as the leader of a session, and so of a process group, of its own. It gets these three descriptors
/// and no others; all signals have their default action, and none is blocked. If `directory` is null, the program
/// starts in the directory of this process.
int baton_spawn(
    pid_t *_Nonnull pid, const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nonnull environment, const char *_Nullable directory, int input, int output, int errors);

/// Makes a descriptor that becomes readable when this child has ended, also if it has ended before. This does not reap
/// the child.
int baton_exit_descriptor(pid_t pid, int *_Nonnull descriptor);

/// Reaps a child that has ended. `code` is its exit status, or the number of a signal if `is_signal` is set.
int baton_reap(pid_t pid, int *_Nonnull code, int *_Nonnull is_signal);

/// Sends a signal to every process of a group. It is not an error if there is none left.
void baton_signal_group(pid_t group, int signal);

extern const int baton_sigterm, baton_sigkill, baton_sigcont, baton_sigpipe;

/// Returns the environment of this process, as `environ` does.
char *_Nullable *_Nullable baton_environment(void);

// MARK: Files

/// Returns 0 if this is a file that may be executed.
int baton_may_run(const char *_Nonnull path);
/// Returns the directory of this process, which the caller frees, or null if it no longer exists.
char *_Nullable baton_working_directory(void);
/// Returns 0 if a program can start in this directory.
int baton_may_enter(const char *_Nonnull path);

enum baton_file_kind { baton_file_missing, baton_file_regular, baton_file_directory, baton_file_other };
struct baton_file {
    enum baton_file_kind kind;
    /// Set unless the kind is `baton_file_missing`.
    unsigned mode, owner, group;
};
/// Describes the file at a path, following symbolic links.
int baton_examine(const char *_Nonnull path, struct baton_file *_Nonnull file);

/// Returns the path with every symbolic link resolved, which the caller frees, or null if there is no such file.
char *_Nullable baton_resolve(const char *_Nonnull path);
/// Returns the target of a symbolic link, which the caller frees, or null if this is no link.
char *_Nullable baton_link_target(const char *_Nonnull path);
void baton_free(char *_Nullable text);

/// The functions that open files never block, not even for the other end of a named pipe.
int baton_open_reading(const char *_Nonnull path, int *_Nonnull descriptor);
int baton_open_writing(const char *_Nonnull path, int is_appending, int *_Nonnull descriptor);
/// Creates a file that must not exist, with those of these permissions that the umask allows.
int baton_make_file(const char *_Nonnull path, unsigned mode, int *_Nonnull descriptor);
/// Gives a new file the owner, the group and exactly the permissions of another file. If the owner or the group cannot
/// be set, it stays, and the permissions that were meant for it are left out.
int baton_copy_permissions(int descriptor, const struct baton_file *_Nonnull file);
/// Returns whether both paths lead to the same file. A symbolic link at the end of a path is not followed.
int baton_is_one_file(const char *_Nonnull path, const char *_Nonnull other);

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
/// Returns whether this is the writing end of a pipe that nobody can read any more.
int baton_has_no_reader(int descriptor);
/// Returns the number of bytes that can be read without waiting.
int baton_available(int descriptor);
extern const int baton_again, baton_broken_pipe, baton_no_such_process, baton_not_there,
    baton_not_in_a_directory, baton_is_a_directory, baton_no_permission, baton_no_executable, baton_too_long_a_list,
    baton_busy_file, baton_no_descriptor, baton_no_file;

/// Has the layout of `struct pollfd`.
struct baton_watch {
    int descriptor;
    short wanted;
    short found;
};
extern const short baton_readable, baton_writable;
/// Waits until one of the descriptors is ready.
int baton_poll(struct baton_watch *_Nonnull watches, size_t count);
/// Suspends the thread for a time, or for less if a signal arrives.
void baton_pause(int milliseconds);

// MARK: Texts

const char *_Nonnull baton_error_text(int error);
const char *_Nonnull baton_signal_text(int signal);

/// Returns the offset of the first newline, or -1 if there is none.
ssize_t baton_find_newline(const void *_Nonnull bytes, size_t count);
