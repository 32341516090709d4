// Moving instances to two branches by a byte of each.
#pragma once

#include <vector>

#include "base/callable.hpp"
#include "base/types.hpp"

namespace treewright {

struct ByteTest {
  const u8* data;  // there are three more bytes behind the last
  i64 step;        // instance i has data[i * step]
  u32 mask;        // of its byte, what counts
  u32 below;       // greater ones go right, but
  u32 n_close;     // so many from `below` on are not decided by their byte

  u32 operator()(i64 id) const { return data[id * step] & mask; }
};

// Those on the left come first; returns how many. All keep their order. `n_all` is more than every
// instance's number; is_right(id) decides where the byte does not, in order.
i64 partition_by_byte(u32* ids, i64 n, i64 n_all, const ByteTest& test, std::vector<char>& bytes,
                      Callable<bool(u32)> is_right);

}  // namespace treewright
