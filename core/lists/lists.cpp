// Python's door to attribute lists. Python reads chunks of lists and hands them over, one call per
// chunk; what is learned of them stays here.
#include <nanobind/stl/optional.h>

#include <optional>

#include "base/arrays.hpp"
#include "base/binding.hpp"
#include "base/memory.hpp"
#include "base/module.hpp"
#include "base/signals.hpp"
#include "lists/cut_search.hpp"
#include "lists/division.hpp"
#include "lists/rows.hpp"
#include "lists/subsets.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treewright {
namespace {

using namespace lists;

using Any = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> as(const Any& array) {
  return {static_cast<const T*>(array.data()), array.size()};
}

// Calls f(read), where read(i) is entry i of an ordered list (double) or of codes (i32, −1 a gap).
template <class F>
void with_entries(const Any& values, F&& f) {
  const auto type = values.dtype();
  if (type == nb::dtype<float>()) {
    f([v = as<float>(values)](i64 i) { return static_cast<double>(v[i]); });
  } else if (type == nb::dtype<double>()) {
    f([v = as<double>(values)](i64 i) { return v[i]; });
  } else if (type == nb::dtype<u8>()) {
    f([v = as<u8>(values)](i64 i) { return v[i] == 255 ? -1 : static_cast<i32>(v[i]); });
  } else if (type == nb::dtype<u16>()) {
    f([v = as<u16>(values)](i64 i) { return v[i] == 65535 ? -1 : static_cast<i32>(v[i]); });
  } else if (type == nb::dtype<i32>()) {
    f([v = as<i32>(values)](i64 i) { return v[i]; });
  } else {
    throw nb::type_error("lists must be float32, float64, uint8, uint16 or int32");
  }
}

template <class T>
std::span<const T> maybe(const std::optional<Vector<T>>& array) {
  return array ? view(*array) : std::span<const T>{};
}

// Hands the entries of a chunk to a search that takes their kind of value.
template <class Search, class Read, class Source>
void feed(Search& search, const Read& read, const Source& each) {
  using Value = decltype(read(0));
  constexpr bool fits = requires { search.take(0, read(0), 0, i64{1}); } &&
                        std::is_same_v<Value, i32> == std::is_same_v<Search, SubsetSearch>;
  if constexpr (fits) {
    each([&](i64 i, i32 slot, i32 label, i64 weight) {
      if (search.takes(slot)) search.take(slot, read(i), label, weight);
    });
  } else {
    refuse("Numbers are cut and codes are grouped; the list holds the other kind.");
  }
}

template <class Search>
void by_class_list(Search& search, const Any& values, Vector<u32> rows, const ClassList& classes) {
  const auto which = view(rows);
  GilRelease release;
  with_entries(values,
               [&](auto read) { feed(search, read, [&](auto&& f) { classes.each(which, f); }); });
}

template <class Search>
void by_segments(Search& search, const Any& values, Vector<u16> label,
                 std::optional<Vector<i64>> weight, i64 begin, Vector<i64> offset) {
  const Segments segments{view(label), maybe(weight), begin, view(offset)};
  GilRelease release;
  with_entries(values, [&](auto read) { feed(search, read, [&](auto&& f) { segments.each(f); }); });
}

nb::tuple cuts_found(CutSearch& search) {
  const std::size_t n = search.size();
  std::vector<u8> kind(n), gaps_left(n);
  std::vector<double> gain(n), scale(n), below(n), above(n);
  std::vector<i64> gaps(n);
  for (std::size_t s = 0; s < n; ++s) {
    const Best best = search.best(s);
    kind[s] = static_cast<u8>(best.kind);
    gaps_left[s] = best.gaps_left;
    gain[s] = best.gain;
    scale[s] = best.scale;
    below[s] = best.below;
    above[s] = best.above;
    gaps[s] = search.n_gaps(s);
  }
  return nb::make_tuple(to_numpy(std::move(kind)), to_numpy(std::move(gain)),
                        to_numpy(std::move(scale)), to_numpy(std::move(gaps_left)),
                        to_numpy(std::move(gaps)), to_numpy(std::move(below)),
                        to_numpy(std::move(above)));
}

nb::tuple subsets_found(SubsetSearch& search, Matrix<i64> totals, Vector<i64> rows) {
  std::vector<Subset> found;
  {
    const auto all = view(totals);
    const auto counts = view(rows);
    GilRelease release;
    found = search.best(all, counts);
  }
  const std::size_t n = found.size();
  std::vector<u8> kind(n), gaps_left(n);
  std::vector<double> gain(n), scale(n);
  std::vector<i64> gaps(n), offset(n + 1, 0);
  std::vector<i32> codes, branches;
  for (std::size_t s = 0; s < n; ++s) {
    const Subset& each = found[s];
    const bool any = each.kind != CandidateKind::none;
    kind[s] = static_cast<u8>(!any                                    ? Found::none
                              : each.kind == CandidateKind::only_gaps ? Found::only_gaps
                                                                      : Found::cut);
    gaps_left[s] = each.gaps_left;
    gain[s] = each.gain;
    scale[s] = each.scale;
    gaps[s] = each.n_gaps;
    codes.insert(codes.end(), each.codes.begin(), each.codes.end());
    branches.insert(branches.end(), each.branches.begin(), each.branches.end());
    offset[s + 1] = static_cast<i64>(codes.size());
  }
  return nb::make_tuple(to_numpy(std::move(kind)), to_numpy(std::move(gain)),
                        to_numpy(std::move(scale)), to_numpy(std::move(gaps_left)),
                        to_numpy(std::move(gaps)), to_numpy(std::move(offset)),
                        to_numpy(std::move(codes)), to_numpy(std::move(branches)));
}

// The tests of a level, with the arrays that they look at, and the children they make.
class Divider {
 public:
  Divider(Vector<i32> feature, Vector<double> threshold, Vector<u8> closed, Vector<u8> gap_branch,
          Vector<i64> code_offset, Vector<i32> codes, Vector<i32> branches, Vector<i32> first_child,
          i32 n_classes)
      : feature_(copy(feature)),
        threshold_(copy(threshold)),
        closed_(copy(closed)),
        gap_branch_(copy(gap_branch)),
        code_offset_(copy(code_offset)),
        codes_(copy(codes)),
        branches_(copy(branches)),
        first_child_(copy(first_child)),
        tests_{feature_, threshold_, closed_, gap_branch_, code_offset_, codes_, branches_},
        children_(static_cast<i64>(feature_.size()), n_classes) {}

  Divider(const Divider&) = delete;

  void move_rows(const Any& values, Vector<u32> rows, ClassList& classes, i32 feature) {
    const auto which = view(rows);
    GilRelease release;
    with_entries(values, [&](auto read) {
      classes.each(which, [&](i64 i, i32 slot, i32 label, i64 weight) {
        if (feature_[slot] != feature) return;
        const i32 branch = tests_.branch_of(slot, read(i));
        children_.add(slot, branch, label, weight);
        classes.move(which[i], first_child_[slot] + branch);
      });
    });
  }

  void mark_rows(const Any& values, Vector<u32> rows, Vector<u16> label,
                 std::optional<Vector<i64>> weight, i64 begin, Vector<i64> offset, i32 feature,
                 RowBits& bits) {
    const auto which = view(rows);
    const Segments segments{view(label), maybe(weight), begin, view(offset)};
    GilRelease release;
    with_entries(values, [&](auto read) {
      segments.each([&](i64 i, i32 slot, i32 k, i64 w) {
        if (feature_[slot] != feature || !bits.holds(which[i])) return;
        const i32 branch = tests_.branch_of(slot, read(i));
        children_.add(slot, branch, k, w);
        if (branch) bits.set(which[i]);
      });
    });
  }

  nb::tuple children() const {
    const std::size_t n = children_.rows().size(), k = children_.n_classes();
    return nb::make_tuple(to_numpy(children_.stats(), {n, k}), to_numpy(children_.rows()));
  }

 private:
  template <class T>
  static std::vector<T> copy(const Vector<T>& array) {
    const auto values = view(array);
    return {values.begin(), values.end()};
  }

  std::vector<i32> feature_;
  std::vector<double> threshold_;
  std::vector<u8> closed_, gap_branch_;
  std::vector<i64> code_offset_;
  std::vector<i32> codes_, branches_, first_child_;
  Tests tests_;
  Children children_;
};

// Branch of each row, where it is known; `known` holds those of the other rows.
nb::object row_branches(Vector<u32> rows, const RowBits& bits, std::optional<Vector<u8>> known) {
  const auto which = view(rows);
  const auto before = maybe(known);
  std::vector<u8> branch(which.size());
  {
    GilRelease release;
    for (std::size_t i = 0; i < which.size(); ++i) {
      if (bits.holds(which[i])) {
        branch[i] = bits.get(which[i]);
      } else {
        branch[i] = before.empty() ? 0 : before[i];
      }
    }
  }
  return to_numpy(std::move(branch));
}

nb::tuple divide_chunk(Vector<u8> branch, i64 begin, Vector<i64> offset, Vector<i64> next) {
  const auto sides = view(branch);
  const auto offsets = view(offset), places = view(next);
  std::vector<i64> moved(places.begin(), places.end());
  Runs runs;
  {
    GilRelease release;
    runs = divide(sides, begin, offsets, moved);
  }
  return nb::make_tuple(to_numpy(std::move(runs.order)), to_numpy(std::move(runs.start)),
                        to_numpy(std::move(runs.length)), to_numpy(std::move(moved)));
}

// Positions of the entries whose rows belong to an open node.
nb::object open_entries(Vector<u32> rows, const ClassList& classes) {
  std::vector<i64> kept;
  {
    const auto which = view(rows);
    GilRelease release;
    classes.each(which, [&](i64 i, i32, i32, i64) { kept.push_back(i); });
  }
  return to_numpy(std::move(kept));
}

}  // namespace

void bind_lists(nb::module_& m) {
  nb::class_<ClassList>(m, "ClassList")
      .def(nb::init<bool, bool>(), "wide"_a, "weighted"_a)
      .def("reserve", &ClassList::reserve, "n_rows"_a)
      .def("__len__", &ClassList::size)
      .def(
          "append",
          [](ClassList& self, Vector<i32> label, std::optional<Vector<i64>> weight) {
            self.append(view(label), maybe(weight));
          },
          "label"_a.noconvert(), "weight"_a.none())
      .def(
          "set_level",
          [](ClassList& self, i32 base, Vector<i32> slot_of) {
            const auto slots = view(slot_of);
            self.set_level(base, {slots.begin(), slots.end()});
          },
          "base"_a, "slot_of"_a.noconvert());
  nb::class_<CutSearch>(m, "CutSearch")
      .def(
          "__init__",
          [](CutSearch* self, Matrix<i64> totals, Vector<i64> rows, i32 first, i64 min_leaf,
             bool unit) {
            new (self) CutSearch(view(totals), view(rows), static_cast<i32>(totals.shape(1)), first,
                                 min_leaf, unit);
          },
          "totals"_a.noconvert(), "rows"_a.noconvert(), "first"_a, "min_leaf"_a, "unit"_a)
      .def("by_class_list", &by_class_list<CutSearch>, "values"_a, "rows"_a.noconvert(),
           "classes"_a)
      .def("by_segments", &by_segments<CutSearch>, "values"_a, "label"_a.noconvert(),
           "weight"_a.none(), "begin"_a, "offset"_a.noconvert())
      .def("found", &cuts_found);
  nb::class_<SubsetSearch>(m, "SubsetSearch")
      .def(nb::init<i32, i32, i32, i32, i64, i32, bool>(), "n_slots"_a, "first"_a, "n_codes"_a,
           "n_classes"_a, "min_leaf"_a, "max_exhaustive"_a, "unit"_a)
      .def("by_class_list", &by_class_list<SubsetSearch>, "values"_a, "rows"_a.noconvert(),
           "classes"_a)
      .def("by_segments", &by_segments<SubsetSearch>, "values"_a, "label"_a.noconvert(),
           "weight"_a.none(), "begin"_a, "offset"_a.noconvert())
      .def("found", &subsets_found, "totals"_a.noconvert(), "rows"_a.noconvert());
  nb::class_<RowBits>(m, "RowBits").def(nb::init<i64, i64>(), "begin"_a, "end"_a);
  nb::class_<Divider>(m, "Divider")
      .def(nb::init<Vector<i32>, Vector<double>, Vector<u8>, Vector<u8>, Vector<i64>, Vector<i32>,
                    Vector<i32>, Vector<i32>, i32>(),
           "feature"_a.noconvert(), "threshold"_a.noconvert(), "closed"_a.noconvert(),
           "gap_branch"_a.noconvert(), "code_offset"_a.noconvert(), "codes"_a.noconvert(),
           "branches"_a.noconvert(), "first_child"_a.noconvert(), "n_classes"_a)
      .def("move_rows", &Divider::move_rows, "values"_a, "rows"_a.noconvert(), "classes"_a,
           "feature"_a)
      .def("mark_rows", &Divider::mark_rows, "values"_a, "rows"_a.noconvert(),
           "label"_a.noconvert(), "weight"_a.none(), "begin"_a, "offset"_a.noconvert(), "feature"_a,
           "bits"_a)
      .def("children", &Divider::children);
  m.def("trim_heap", [] {
    GilRelease release;
    trim_heap();
  });
  m.def("row_branches", &row_branches, "rows"_a.noconvert(), "bits"_a, "known"_a.none());
  m.def("divide_chunk", &divide_chunk, "branch"_a.noconvert(), "begin"_a, "offset"_a.noconvert(),
        "next"_a.noconvert());
  m.def("open_entries", &open_entries, "rows"_a.noconvert(), "classes"_a);
}

}  // namespace treewright
