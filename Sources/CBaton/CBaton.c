// _GNU_SOURCE declares pthread_setname_np.
#define _GNU_SOURCE

#include "CBaton.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *);
void __tsan_release(void *);
void baton_tsan_acquire(const void *address) { __tsan_acquire((void *)address); }
void baton_tsan_release(const void *address) { __tsan_release((void *)address); }
#else
void baton_tsan_acquire(const void *address) { (void)address; }
void baton_tsan_release(const void *address) { (void)address; }
#endif

static _Thread_local void *word;

void *baton_thread_word(void) { return word; }
void baton_set_thread_word(void *new_word) { word = new_word; }

static _Thread_local void *executor;

void *baton_thread_executor(void) { return executor; }
void baton_set_thread_executor(void *new_executor) { executor = new_executor; }

static _Thread_local int held_locks;

int baton_count_held_locks(int change) { return held_locks += change; }

void baton_complain(const char *text) { fprintf(stderr, "%s\n", text); }

void baton_name_thread(const char *name) {
#if defined(__APPLE__)
    pthread_setname_np(name);
#elif defined(__linux__)
    pthread_setname_np(pthread_self(), name);
#else
    (void)name;
#endif
}

void baton_init_condition(pthread_cond_t *condition) {
#if defined(__APPLE__)
    pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}

void baton_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, long long nanoseconds) {
    struct timespec time = {0, 0};
#if !defined(__APPLE__)
    clock_gettime(CLOCK_MONOTONIC, &time);
#endif
    long long end = time.tv_nsec + nanoseconds;
    time.tv_sec += end / 1000000000;
    time.tv_nsec = end % 1000000000;
#if defined(__APPLE__)
    pthread_cond_timedwait_relative_np(condition, mutex, &time);
#else
    pthread_cond_timedwait(condition, mutex, &time);
#endif
}

unsigned baton_processor_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (unsigned)count;
}

#if defined(__linux__)
static const clockid_t continuous = CLOCK_BOOTTIME;
#elif defined(__APPLE__)
static const clockid_t continuous = CLOCK_MONOTONIC_RAW;
#else
static const clockid_t continuous = CLOCK_MONOTONIC;
#endif

long long baton_continuous_time(void) {
    struct timespec time;
    clock_gettime(continuous, &time);
    return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

void baton_wait_briefly(unsigned looks) {
    static const unsigned awake = 100;
    if (looks < awake) {
        pause_processor();
    } else {
        unsigned sleeps = looks - awake;
        struct timespec time = {0, sleeps < 5 ? 31250L << sleeps : 1000000L};
        nanosleep(&time, NULL);
    }
}
