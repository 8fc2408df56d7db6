// _GNU_SOURCE declares pipe2 and NSIG.
#define _GNU_SOURCE

#include "CBaton.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#ifndef NSIG
#define NSIG 65
#endif

/// The end of the pipe that the handler writes to. It is set before the first handler is installed.
static atomic_int writing_end = -1;
/// The process that opened the pipe.
static atomic_int owner;
/// The action of each signal before it was caught.
static struct sigaction former[NSIG];

/// For each signal, whether it is caught.
static atomic_bool caught[NSIG];

/// A byte that is not the number of a signal. It tells the reader to look at `caught`.
static const unsigned char look = 0;

/// Writes a byte, unless the pipe is full: then it holds thousands of signals that the reader has not seen yet, and one
/// more tells the reader nothing new.
static void write_to_pipe(unsigned char byte) {
    while (write(atomic_load(&writing_end), &byte, 1) < 0 && errno == EINTR) {}
}

/// The signal handler. Every function that it calls is async-signal-safe.
static void note_signal(int number) {
    int error = errno;
    if (getpid() == atomic_load(&owner)) {
        write_to_pipe((unsigned char)number);
    } else {
        // A child between fork and exec must not write to the pipe of its parent. It ends when the handler has
        // returned, as any other program would.
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = error;
}

enum baton_signal_use baton_use_of_signal(int number) {
    switch (number) {
    case SIGKILL:
    case SIGSTOP:
        return baton_signal_never_caught;
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
        return baton_signal_is_fault;
    default:
        return 0 < number && number < NSIG ? baton_signal_can_be_caught : baton_signal_does_not_exist;
    }
}

int baton_open_signal_pipe(int *reading) {
    int ends[2];
#if defined(__linux__)
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#else
    if (pipe(ends) != 0) return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
    // Writes must not block, because a handler must not wait for the reader.
    fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK);
    atomic_store(&owner, getpid());
    atomic_store(&writing_end, ends[1]);
    *reading = ends[0];
    return 0;
}

void baton_close_signal_pipe(int reading) {
    close(reading);
    close(atomic_exchange(&writing_end, -1));
}

/// Unblocks the signals that are caught, and blocks all others, for the calling thread: every other thread may block
/// the signals that are caught, as the threads of Dispatch do.
static void take_caught_signals(void) {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int number = 1; number < NSIG; number++) {
        if (atomic_load(&caught[number])) sigdelset(&blocked, number);
    }
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

int baton_next_signal(int reading) {
    while (1) {
        unsigned char byte;
        ssize_t count = read(reading, &byte, 1);
        if (count == 1 && byte != look) return byte;
        if (count == 1) {
            take_caught_signals();
        } else if (count == 0 || errno != EINTR) {
            return -1;
        }
    }
}

static int is_ours(const struct sigaction *action) {
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == note_signal;
}

int baton_catch_signal(int number) {
    struct sigaction action, found;
    memset(&action, 0, sizeof action);
    action.sa_handler = note_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART | SA_ONSTACK;
    if (sigaction(number, &action, &found) != 0) return errno;
    // Other code may have installed our own handler again in the meantime.
    if (!is_ours(&found)) former[number] = found;
    atomic_store(&caught[number], 1);
    write_to_pipe(look);
    return 0;
}

void baton_release_signal(int number) {
    struct sigaction found;
    atomic_store(&caught[number], 0);
    write_to_pipe(look);
    // A handler that other code has installed in the meantime stays.
    if (sigaction(number, NULL, &found) == 0 && is_ours(&found)) sigaction(number, &former[number], NULL);
}
