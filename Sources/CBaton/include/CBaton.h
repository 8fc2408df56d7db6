// Functions that Swift does not have, or that would take twice the time in Swift: notes to ThreadSanitizer, a word for
// each thread, the names of threads, condition variables with a timeout, a line on standard error, the time, a pause in
// a spin lock, and signals.
#pragma once

#include <pthread.h>

/// A thread that calls `baton_tsan_acquire(p)` after another one has called `baton_tsan_release(p)` sees what that
/// thread wrote before. Both do nothing unless this target is compiled with -fsanitize=thread.
void baton_tsan_acquire(const void *_Nonnull address);
void baton_tsan_release(const void *_Nonnull address);

/// Returns the calling thread's word, which is null until the thread sets it.
void *_Nullable baton_thread_word(void);
void baton_set_thread_word(void *_Nullable word);

/// Returns the executor whose jobs the calling thread runs in an order of its own, or null if there is none.
void *_Nullable baton_thread_executor(void);
void baton_set_thread_executor(void *_Nullable executor);

/// Returns the address of the value that the calling task finds in a task-local, or null if the task-local is not
/// bound. The key is the address of its `TaskLocal`. A child task finds the value of its parent at the same address; an
/// unstructured task has a copy. This is a function of the Swift runtime:
/// https://github.com/swiftlang/swift/blob/main/include/swift/Runtime/Concurrency.h
#if __has_attribute(swiftcall)
__attribute__((swiftcall))
#endif
const void *_Nullable swift_task_localValueGet(const void *_Nonnull key);

/// Returns the priority of a task: the one that it was created with, unless it has been raised. This is a function of
/// the Swift runtime, because Swift's own API returns the priority of the current task only.
#if __has_attribute(swiftcall)
__attribute__((swiftcall))
#endif
unsigned long swift_task_currentPriority(const void *_Nonnull task);

/// Writes the text and a newline to standard error, in one call.
void baton_complain(const char *_Nonnull text);

/// Names the calling thread. Linux refuses names of more than 15 bytes.
void baton_name_thread(const char *_Nonnull name);

/// Initializes a condition variable for `baton_wait`. Its timeouts do not change when the system's clock is set.
void baton_init_condition(pthread_cond_t *_Nonnull condition);

/// Waits as `pthread_cond_wait` does, for at most this number of nanoseconds.
void baton_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, long long nanoseconds);

/// Returns the number of processors, at least 1.
unsigned baton_processor_count(void);

/// Returns the time in nanoseconds on the clock that Swift's ContinuousClock reads. It never goes back, and does not
/// stop while the machine sleeps.
long long baton_continuous_time(void);

/// Changes the number of locks that the calling thread holds, and returns it. Only assertions call this.
int baton_count_held_locks(int change);

/// Pauses between two attempts to take a lock that another thread holds. `looks` is the number of attempts so far. The
/// first 100 pauses take some nanoseconds. After that the holder is probably not running, so the thread sleeps: for 31
/// µs at first, then for twice as long each time, up to a millisecond.
void baton_wait_briefly(unsigned looks);

/// Says whether a program can catch a signal.
enum baton_signal_use {
    baton_signal_can_be_caught,
    /// The system lets no program catch the signal.
    baton_signal_never_caught,
    /// The system sends the signal to a thread that cannot continue.
    baton_signal_is_fault,
    baton_signal_does_not_exist,
};
enum baton_signal_use baton_use_of_signal(int number);

/// Opens the pipe that the signal handler writes to. It is called once, before the first signal is caught. Returns 0 or
/// an `errno`.
int baton_open_signal_pipe(int *_Nonnull reading);

/// Closes the pipe. It is called only if no signal has been caught.
void baton_close_signal_pipe(int reading);

/// Blocks the calling thread until a signal has been caught, and returns its number, or -1 if the pipe is broken. The
/// thread blocks all signals that are not caught.
int baton_next_signal(int reading);

/// Begins to write the number of a signal to the pipe whenever that signal arrives. Returns 0 or an `errno`. Calls for
/// the same signal must not overlap.
int baton_catch_signal(int number);

/// Restores the action that the signal had before it was caught.
void baton_release_signal(int number);
