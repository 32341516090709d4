// Rows brought to the front of a range by swaps, as release 8 of C4.5 orders them.
//
// What stays lies between the front and the place looked at, and a swap takes its first to its end:
// it is a queue. Kept aside, no step waits for a jump that cannot be foreseen or for what was just
// written, and four words can be taken at once.
#pragma once

#include "base/types.hpp"

namespace treewright {

struct Brought {
  u64* end = nullptr;  // of the words below the bound
  i64 n_less = 0;      // of them those below `less`
};

// Swaps the words below a bound to the front. `queue` has room for all of them.
Brought bring_front(u64* begin, u64* end, u64 bound, u64 less, u64* queue);

// Swaps the words from `least` on to the end, from the back until they begin at `until`.
void bring_back(u64* end, u64* until, u64 least, u64* queue);

}  // namespace treewright
