// Best time per call of a loop body, measured as darts_py/bench/measure.py does it:
// best of the chunks of at least CHUNK_S, at least MIN_CHUNKS of them, within the seconds given.
#pragma once
#include <stdio.h>
#include <time.h>

#define CHUNK_S 3e-4
#define MIN_CHUNKS 3

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// BODY may use the index i; RESULT receives nanoseconds per call.
#define MEASURE(RESULT, SECONDS, BODY)                                            \
    do {                                                                          \
        long count_ = 1;                                                          \
        int chunks_ = 0;                                                          \
        double best_ = 1e9, end_ = now_s() + (SECONDS);                           \
        while (now_s() < end_ || chunks_ < MIN_CHUNKS) {                          \
            const double start_ = now_s();                                        \
            for (long i = 0; i < count_; i++) { BODY; }                           \
            const double chunk_ = now_s() - start_;                               \
            if (chunk_ < CHUNK_S) { count_ *= 2; continue; }                      \
            chunks_++;                                                            \
            if (chunk_ / (double)count_ < best_) best_ = chunk_ / (double)count_; \
        }                                                                         \
        (RESULT) = 1e9 * best_;                                                   \
    } while (0)
