// What Swift cannot say itself, or only at twice the price: two notes to ThreadSanitizer, one word per thread, a thread's
// name, a condition with a time, a line on standard error, the time, a pause between two looks, what will be written soon, the signals
// that come to the process.
#pragma once

#include <pthread.h>

/// What was written before `baton_tsan_release(p)` is seen after `baton_tsan_acquire(p)`. Both do nothing
/// unless this target is compiled with -fsanitize=thread.
void baton_tsan_acquire(const void *_Nonnull address);
void baton_tsan_release(const void *_Nonnull address);

/// This thread's word, null until the thread sets it.
void *_Nullable baton_thread_word(void);
void baton_set_thread_word(void *_Nullable word);

/// Where the calling task finds the value of the task-local with this key, which is the address of its `TaskLocal`; null if it is not
/// bound. A child task finds the very value of its parent; an unstructured task has a copy. The runtime's own function:
/// https://github.com/swiftlang/swift/blob/main/include/swift/Runtime/Concurrency.h
#if __has_attribute(swiftcall)
__attribute__((swiftcall))
#endif
const void *_Nullable swift_task_localValueGet(const void *_Nonnull key);

/// The priority of this task: that with which it was made, unless somebody has raised it. The runtime's own function: what Swift
/// offers tells that of the current task only.
#if __has_attribute(swiftcall)
__attribute__((swiftcall))
#endif
unsigned long swift_task_currentPriority(const void *_Nonnull task);

/// Writes the text and a newline to standard error, in one call.
void baton_complain(const char *_Nonnull text);

/// Names the calling thread: at most 15 bytes, else Linux refuses.
void baton_name_thread(const char *_Nonnull name);

/// Makes a condition for `baton_wait`, whose times do not change when somebody sets the clock.
void baton_init_condition(pthread_cond_t *_Nonnull condition);

/// As `pthread_cond_wait`, for at most so long.
void baton_wait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, long long nanoseconds);

/// How many processors there are, at least 1.
unsigned baton_processor_count(void);

/// Nanoseconds of the clock that Swift's ContinuousClock reads: it never goes back, and does not stop while the machine sleeps.
long long baton_continuous_time(void);

/// Between two looks at a lock that another thread holds, after so many: some nanoseconds at first; from the hundredth on, when its
/// holder is probably not running, a sleep, the first of 31 µs and each twice as long, up to a millisecond.
void baton_wait_briefly(unsigned looks);

/// Whether a program can wait for a signal.
enum baton_signal_use {
    baton_signal_can_be_caught,
    /// The system lets no program catch it.
    baton_signal_never_caught,
    /// The system sends it to a thread that cannot go on.
    baton_signal_is_fault,
    baton_signal_does_not_exist,
};
enum baton_signal_use baton_use_of_signal(int number);

/// Makes the pipe that handlers of signals write to. To be called once, before the first signal is caught. Returns 0 or an `errno`.
int baton_open_signal_pipe(int *_Nonnull reading);

/// Takes the pipe back: nobody has caught a signal yet.
void baton_close_signal_pipe(int reading);

/// Blocks until a signal has been caught, and returns its number; -1 if the pipe is broken. The calling thread blocks all other
/// signals.
int baton_next_signal(int reading);

/// From now on this signal is written to the pipe. Returns 0 or an `errno`. Calls for one signal must not overlap.
int baton_catch_signal(int number);

/// What was to happen to the signal before it was caught happens again.
void baton_release_signal(int number);

/// The first 160 bytes from here are written soon, by this thread. Said in assembler on x86-64: for the oldest of these processors,
/// which would ignore it, the compiler makes it a prefetch for reading, and the write goes and fetches the line again.
static inline void baton_prefetch(const void *_Nonnull address) {
    for (int offset = 0; offset < 160; offset += 64) {
#ifdef __x86_64__
        __asm__ volatile("prefetchw %0" : : "m"(*((const char *)address + offset)));
#else
        __builtin_prefetch((const char *)address + offset, 1);
#endif
    }
}
