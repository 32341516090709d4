// Sums on words of 64 rows: a binary number per row, digit d of 64 rows in one word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace treewright::rules {

// carry = ~pass.
void invert(const std::uint64_t* pass, std::uint64_t* carry, std::int64_t n);

// One step of adding (or taking away) one in the rows of `carry`, which becomes that of the next
// digit.
void add_digit(std::uint64_t* digit, std::uint64_t* carry, std::int64_t n);
void subtract_digit(std::uint64_t* digit, std::uint64_t* carry, std::int64_t n);

// Rows whose number is none, and those whose number is one.
void none_or_one(const std::uint64_t* const* digits, std::size_t n_digits, std::uint64_t* none,
                 std::uint64_t* one, std::int64_t n);

}  // namespace treewright::rules
