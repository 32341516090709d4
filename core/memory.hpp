// Large buffers that go back to the system the moment they are freed.
//
// The general allocator keeps freed megabytes for later; a fit's sorted columns are larger than
// anything that comes after them, so they would stand in the peak for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace treewright {

class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) : size_(bytes + 64) {
#if defined(__linux__)
    if (size_ >= kMapped) {
      void* at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (at == MAP_FAILED) throw std::bad_alloc();
      data_ = static_cast<char*>(at);
      return;
    }
#endif
    data_ = new char[size_];
  }
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory() {
    if (!data_) return;
#if defined(__linux__)
    if (size_ >= kMapped) {
      ::munmap(data_, size_);
      return;
    }
#endif
    delete[] data_;
  }

  // The first address on a cache line's boundary.
  void* data() const {
    const auto at = reinterpret_cast<std::uintptr_t>(data_);
    return reinterpret_cast<void*>((at + 63) & ~std::uintptr_t{63});
  }

 private:
  static constexpr std::size_t kMapped = std::size_t{1} << 20;
  void swap(Memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace treewright
