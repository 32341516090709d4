// A reference to something that can be called, for parameters of functions that are compiled once.
//
// It owns nothing: what it refers to must live as long as the call that takes it.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace treewright {

template <class Signature>
class Callable;

template <class Result, class... Args>
class Callable<Result(Args...)> {
 public:
  template <class Body>
    requires(!std::is_same_v<std::remove_cvref_t<Body>, Callable>)
  Callable(Body&& body)  // implicit, so that lambdas can be passed
      : at_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* at, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Body>*>(at))(std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(at_, std::forward<Args>(args)...); }

 private:
  void* at_;
  Result (*call_)(void*, Args...);
};

}  // namespace treewright
