// Wider instructions, chosen at run time where the platform can; the results are the same bits.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define TREEWRIGHT_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TREEWRIGHT_WIDE
#endif
