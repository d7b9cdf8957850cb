// Loops that move many numbers and compute little. Compiled when they are first needed, see compiled.py.
// noinline and restrict: three calls stay three passes over memory, and nothing has to be read again for fear of overlap.
#include <stddef.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#define PASS __attribute__((noinline)) void

PASS add(ptrdiff_t n, const float *restrict a, const float *restrict b, float *restrict c) {
    for (ptrdiff_t i = 0; i < n; i++) c[i] = a[i] + b[i];
}

PASS mul(ptrdiff_t n, const float *restrict a, const float *restrict b, float *restrict c) {
    for (ptrdiff_t i = 0; i < n; i++) c[i] = a[i] * b[i];
}

// e = d + (a + b) * c in three passes, with two arrays for what lies in between.
PASS chain(ptrdiff_t n, const float *a, const float *b, const float *c, const float *d, float *e, float *tmp1, float *tmp2) {
    add(n, a, b, tmp1);
    mul(n, tmp1, c, tmp2);
    add(n, tmp2, d, e);
}

// The same in one pass.
PASS fused(ptrdiff_t n, const float *restrict a, const float *restrict b, const float *restrict c,
           const float *restrict d, float *restrict e) {
    for (ptrdiff_t i = 0; i < n; i++) e[i] = d[i] + (a[i] + b[i]) * c[i];
}

// One pass whose stores go round the cache, so that no line is read only to be overwritten. e has to lie at a
// multiple of 16 bytes, n be a multiple of 4. Returns 0 where the processor has no such stores.
__attribute__((noinline)) int fused_around(ptrdiff_t n, const float *restrict a, const float *restrict b,
                                           const float *restrict c, const float *restrict d, float *restrict e) {
#if defined(__SSE__)
    for (ptrdiff_t i = 0; i < n; i += 4) {
        __m128 sum = _mm_add_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i));
        _mm_stream_ps(e + i, _mm_add_ps(_mm_loadu_ps(d + i), _mm_mul_ps(sum, _mm_loadu_ps(c + i))));
    }
    _mm_sfence();
    return 1;
#else
    return 0;
#endif
}

// The roof's own stream: two numbers read, one written.
PASS triad(ptrdiff_t n, const float *restrict a, const float *restrict b, float *restrict c) {
    for (ptrdiff_t i = 0; i < n; i++) c[i] = a[i] + 3.0f * b[i];
}

PASS scale(ptrdiff_t n, const float *restrict a, float *restrict c) {
    for (ptrdiff_t i = 0; i < n; i++) c[i] = 3.0f * a[i];
}

PASS sum_of_four(ptrdiff_t n, const float *restrict a, const float *restrict b, const float *restrict c,
                 const float *restrict d, float *restrict e) {
    for (ptrdiff_t i = 0; i < n; i++) e[i] = a[i] + b[i] + c[i] + d[i];
}

// Four products of two arrays each with itself: nothing is written. Lanes are parted by hand, since the order of a
// sum of floats is not the compiler's to change.
__attribute__((noinline)) float dot(ptrdiff_t n, const float *restrict a, const float *restrict b) {
    float lanes[32] = {0};
    for (ptrdiff_t i = 0; i < n; i += 32)
        for (int j = 0; j < 32; j++) lanes[j] += a[i + j] * b[i + j];
    float total = 0;
    for (int j = 0; j < 32; j++) total += lanes[j];
    return total;
}
