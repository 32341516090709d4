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
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
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

// For vectors that begin on a cache line's boundary.
template <class T>
struct OnLines {
  using value_type = T;
  OnLines() = default;
  template <class U>
  OnLines(const OnLines<U>&) {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* at, std::size_t) { ::operator delete(at, std::align_val_t{64}); }
  bool operator==(const OnLines&) const = default;
};

// Makes the general allocator give back what it keeps. It looks through all of its memory, so this
// is for moments when megabytes were freed.
inline void trim_heap() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

// Gives the pages between two addresses back to the system: what they held is not needed any more,
// though the buffer they are part of still is. Small parts are not worth the call.
inline void drop_pages([[maybe_unused]] void* begin, [[maybe_unused]] void* end) {
#if defined(__linux__)
  static const std::uintptr_t page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(end) & ~(page - 1);
  if (to >= from + 16 * page) ::madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
#endif
}

}  // namespace treewright
