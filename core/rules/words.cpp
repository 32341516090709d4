#include "rules/words.hpp"

#include "base/simd.hpp"

namespace treewright::rules {

TREEWRIGHT_VECTORS
void invert(const std::uint64_t* pass, std::uint64_t* carry, std::int64_t n) {
  for (std::int64_t w = 0; w < n; ++w) carry[w] = ~pass[w];
}

TREEWRIGHT_VECTORS
void add_digit(std::uint64_t* digit, std::uint64_t* carry, std::int64_t n) {
  for (std::int64_t w = 0; w < n; ++w) {
    const std::uint64_t before = digit[w];
    digit[w] = before ^ carry[w];
    carry[w] &= before;
  }
}

TREEWRIGHT_VECTORS
void subtract_digit(std::uint64_t* digit, std::uint64_t* carry, std::int64_t n) {
  for (std::int64_t w = 0; w < n; ++w) {
    const std::uint64_t before = digit[w];
    digit[w] = before ^ carry[w];
    carry[w] &= ~before;
  }
}

TREEWRIGHT_VECTORS
void none_or_one(const std::uint64_t* const* digits, std::size_t n_digits, std::uint64_t* none,
                 std::uint64_t* one, std::int64_t n) {
  constexpr std::int64_t step = 64;  // words that stay in the cache of the core
  for (std::int64_t from = 0; from < n; from += step) {
    const std::int64_t to = from + step < n ? from + step : n;
    for (std::int64_t w = from; w < to; ++w) none[w] = 0;
    for (std::size_t d = 1; d < n_digits; ++d)
      for (std::int64_t w = from; w < to; ++w) none[w] |= digits[d][w];
    for (std::int64_t w = from; w < to; ++w) {
      const std::uint64_t lowest = n_digits ? digits[0][w] : 0;
      one[w] = lowest & ~none[w];
      none[w] = ~(lowest | none[w]);
    }
  }
}

}  // namespace treewright::rules
