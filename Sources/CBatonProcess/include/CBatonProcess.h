// What BatonProcess asks of the system, so that its Swift is the same everywhere. Calls that can fail return an errno, or
// its negative where they return a number. Descriptors are closed on exec, and never below 3.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// MARK: Programs

/// Starts a program as the leader of a session, and so of a process group, of its own, with these three descriptors and no
/// other, every signal at its default and none blocked. `directory` may be null: that of this process.
int baton_spawn(
    pid_t *_Nonnull pid, const char *_Nonnull path, char *_Nullable const *_Nonnull arguments,
    char *_Nullable const *_Nonnull environment, const char *_Nullable directory, int input, int output, int errors);

/// A descriptor that can be read when this child has ended, also if it has already. It does not reap it.
int baton_exit_descriptor(pid_t pid, int *_Nonnull descriptor);

/// Reaps a child that has ended: an exit status, or a signal if `is_signal`.
int baton_reap(pid_t pid, int *_Nonnull code, int *_Nonnull is_signal);

/// To every process of the group. That there is none left is no error.
void baton_signal_group(pid_t group, int signal);

extern const int baton_sigterm, baton_sigkill, baton_sigcont, baton_sigpipe;

/// The environment of this process, as `environ`.
char *_Nullable *_Nullable baton_environment(void);

// MARK: Files

/// 0 if this can be run: a file with the right to do so.
int baton_may_run(const char *_Nonnull path);
/// The directory of this process, to be freed; null if it has gone.
char *_Nullable baton_working_directory(void);
/// 0 if a program can begin in this directory.
int baton_may_enter(const char *_Nonnull path);

enum baton_file_kind { baton_file_missing, baton_file_regular, baton_file_directory, baton_file_other };
struct baton_file {
    enum baton_file_kind kind;
    /// Whose they are, where the kind is not ‘missing’.
    unsigned rights, owner, group;
};
/// What there is, links followed.
int baton_examine(const char *_Nonnull path, struct baton_file *_Nonnull file);

/// The path with every link followed, to be freed; null if there is nothing.
char *_Nullable baton_resolve(const char *_Nonnull path);
/// The text of a link, to be freed; null if this is no link.
char *_Nullable baton_link_target(const char *_Nonnull path);
void baton_free(char *_Nullable text);

/// These three never wait, not even for the other end of a named pipe.
int baton_open_reading(const char *_Nonnull path, int *_Nonnull descriptor);
int baton_open_writing(const char *_Nonnull path, int is_appending, int *_Nonnull descriptor);
/// Makes a file that was not there, with those of these rights that the umask allows.
int baton_make_file(const char *_Nonnull path, unsigned rights, int *_Nonnull descriptor);
/// Gives a new file the owner, the group and exactly the rights of another one. An owner or a group that may not be given is
/// not; then the rights that were meant for it are left out.
int baton_resemble(int descriptor, const struct baton_file *_Nonnull file);
/// Whether both paths lead to one file, their last links not followed.
int baton_is_one_file(const char *_Nonnull path, const char *_Nonnull other);

int baton_rename(const char *_Nonnull from, const char *_Nonnull to);
void baton_remove(const char *_Nonnull path);

// MARK: Descriptors

int baton_make_pipe(int *_Nonnull reading, int *_Nonnull writing);
int baton_duplicate(int descriptor, int *_Nonnull copy);
/// For an end of a pipe that is ours.
int baton_never_wait(int descriptor);
void baton_close(int descriptor);

/// How much was read, 0 at the end.
ssize_t baton_read(int descriptor, void *_Nonnull bytes, size_t count);
/// How much was written. A pipe that nobody reads is -EPIPE, and no signal.
ssize_t baton_write(int descriptor, const void *_Nonnull bytes, size_t count);
/// Whether this is the writing end of a pipe that nobody can read any more.
int baton_has_no_reader(int descriptor);
/// How much can be read at once.
int baton_available(int descriptor);
extern const int baton_again, baton_broken_pipe, baton_no_such_process, baton_not_there,
    baton_not_in_a_directory, baton_is_a_directory, baton_no_permission, baton_no_executable, baton_too_long_a_list,
    baton_busy_file, baton_no_descriptor, baton_no_file;

/// The layout of `struct pollfd`.
struct baton_watch {
    int descriptor;
    short wanted;
    short found;
};
extern const short baton_readable, baton_writable;
/// Waits until one of them is ready.
int baton_poll(struct baton_watch *_Nonnull watches, size_t count);
/// The thread does nothing for a while, or less if a signal comes.
void baton_pause(int milliseconds);

// MARK: Texts

const char *_Nonnull baton_error_text(int error);
const char *_Nonnull baton_signal_text(int signal);

/// Where the first newline is, or -1.
ssize_t baton_find_newline(const void *_Nonnull bytes, size_t count);
